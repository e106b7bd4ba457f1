#!/usr/bin/env python3
"""Measure Optuna with and without pruners on the stored curves of benchmarks/stopping. See README.md.

go run ./benchmarks/stopping --plan prints the tasks. This program reads them and appends records.
"""

import argparse
import json
import math
import sys
import time
from pathlib import Path

import numpy
import optuna
from run import append, finished, key, versions

CURVES = Path(__file__).parent.parent / "stopping"

SAMPLERS = {"optuna-tpe": optuna.samplers.TPESampler, "optuna-gp": optuna.samplers.GPSampler}


def pruners(steps):
    """The pruners by the suffix of the method, with their defaults and the number of steps."""
    return {
        "": optuna.pruners.NopPruner(),
        ":median": optuna.pruners.MedianPruner(),
        ":hyperband": optuna.pruners.HyperbandPruner(max_resource=steps),
    }


class Curves:
    """The curves of a problem, between the stored points as in problem.go."""

    def __init__(self, name):
        rows = [json.loads(line) for line in (CURVES / f"{name}.jsonl").read_text().splitlines()]
        self.points = numpy.array([row[0] for row in rows])
        self.logs = numpy.log([row[1] for row in rows])

    def __call__(self, u):
        square = ((self.points - u) ** 2).sum(axis=1)
        nearest = numpy.argsort(square, kind="stable")[:5]
        weights = 1 / (square[nearest] + 1e-4)
        return numpy.exp(weights @ self.logs[nearest] / weights.sum()).tolist()


def measure(task, method):
    """Returns the record of a run. Its budget is counted in full trials."""
    started = time.perf_counter()
    sampler, _, rule = method.partition(":")
    steps, budget = task["steps"], task["budget"]
    record = {k: v for k, v in task.items() if k not in ("points", "steps")}
    record["machine"] = {k: v for k, v in task["machine"].items() if k != "go"} | {"threads": 1}
    record |= {"method": method, "version": versions(["optuna"]), "suggest_s": [0] * budget}
    curves = Curves(task["problem"])
    study = optuna.create_study(
        sampler=SAMPLERS[sampler](seed=task["seed"]), pruner=pruners(steps)[rule and ":" + rule]
    )
    box = {f"u{i}": optuna.distributions.FloatDistribution(0, 1) for i in range(task["dim"])}
    for point in task["points"]:
        study.enqueue_trial(dict(zip(box, point)))
    used, improved = 0, [(0, math.inf)]
    while used < steps * budget:
        trial = study.ask(box)
        values = curves([trial.params[name] for name in box])
        for step, value in enumerate(values, 1):
            used += 1
            trial.report(value, step)
            if step < steps and trial.should_prune():
                study.tell(trial, state=optuna.trial.TrialState.PRUNED)
                break
        else:
            study.tell(trial, values[-1])
            improved.append((used, min(values[-1], improved[-1][1])))
    record["values"] = [
        [value for at, value in improved if at <= steps * (i + 1)][-1] for i in range(budget)
    ]
    record["regret"] = [value - task["minimum"] for value in record["values"]]
    record["elapsed_s"] = round(time.perf_counter() - started, 9)
    record["date"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    return record


def main():
    parser = argparse.ArgumentParser(description="Measure Optuna on the tasks of standard input.")
    parser.add_argument("--methods", default="optuna-tpe,optuna-tpe:median,optuna-tpe:hyperband")
    parser.add_argument("--out", type=Path, default=Path("bench/stopping"))
    args = parser.parse_args()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    args.out.mkdir(parents=True, exist_ok=True)
    for line in sys.stdin:
        task = json.loads(line)
        for method in args.methods.split(","):
            if key(task | {"method": method}) in finished(args.out):
                continue
            record = measure(task, method)
            append(args.out, record)
            print(task["problem"], method, task["seed"], f"{record['values'][-1]:.4f}", flush=True)


if __name__ == "__main__":
    main()
