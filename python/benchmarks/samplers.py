"""Compares FunctionSpaceSampler with samplers of Optuna on problems of `bo bench`.

    python python/benchmarks/samplers.py --out samplers.jsonl --seeds 5 --budget 60

Each run is a process with one thread. It appends a line to the file, and the same command
continues after an interruption. The last lines of the output are the mean ranks of the best
values, and the seconds of a suggestion. Needs Optuna, SciPy and, for GPSampler, PyTorch.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SUITE = "families/dev"
MIXED = ("integers-8", "bits-10", "svm-digits-6", "boosting-concrete-6")
CONTINUOUS = ("banana-5", "cone-4", "peaks-6", "noise-level-6")
SAMPLERS = ("FunctionSpaceSampler", "GPSampler", "TPESampler")
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "GOMAXPROCS")

Record = dict[str, Any]


def main() -> None:
    """Performs the runs that the file lacks, and prints the comparison."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="file of the records")
    parser.add_argument("--bo", default="bo", help="path of the program bo")
    parser.add_argument("--problems", default=",".join(MIXED + CONTINUOUS))
    parser.add_argument("--samplers", default=",".join(SAMPLERS))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--budget", type=int, default=60)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        task = json.loads(args.one)
        print(json.dumps(measure(args.bo, task, task["sampler"], args.budget)))
        return
    names = args.samplers.split(",")
    for task in plan(args):
        for name in names:
            if (task["problem"], task["seed"], name) not in {key(r) for r in records(args.out)}:
                line = start(args, {**task, "sampler": name})
                with args.out.open("a") as file:
                    file.write(line)
                print(json.loads(line), flush=True)
    report(list(records(args.out)), names)


def plan(args: argparse.Namespace) -> Iterator[Record]:
    """Yields the tasks, all problems of a seed first."""
    command = [args.bo, "bench", "plan", SUITE, f"--problems={args.problems}"]
    done = subprocess.run(
        [*command, f"--seeds={args.seeds}"], check=True, stdout=subprocess.PIPE, text=True
    )
    yield from sorted(map(json.loads, done.stdout.splitlines()), key=lambda task: task["seed"])


def start(args: argparse.Namespace, task: Record) -> str:
    """Returns the record of a run in a process of its own."""
    command = [sys.executable, __file__, "--out", str(args.out), "--bo", args.bo]
    command += ["--budget", str(args.budget), "--one", json.dumps(task)]
    environment = {**os.environ, "BO_BINARY": args.bo, **dict.fromkeys(THREADS, "1")}
    return subprocess.run(
        command, check=True, stdout=subprocess.PIPE, text=True, env=environment
    ).stdout


def measure(bo: str, task: Record, name: str, budget: int) -> Record:
    """Returns the best noise-free values and the seconds of the suggestions of a run."""
    import optuna

    optuna.logging.disable_default_handler()
    study = optuna.create_study(sampler=sampler(name, task))
    command = [bo, "bench", "evaluate", task["suite"], task["problem"], f"--seed={task['seed']}"]
    best: list[float] = []
    seconds: list[float] = []
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as objective:
        assert objective.stdin is not None
        assert objective.stdout is not None
        for _ in range(budget):
            began = time.perf_counter()
            trial = study.ask()
            x = [suggest(trial, i, p) for i, p in enumerate(parameters(task))]
            seconds.append(time.perf_counter() - began)
            print(json.dumps(x), file=objective.stdin, flush=True)
            values = json.loads(objective.stdout.readline())
            study.tell(trial, values[0])
            best.append(min([values[-1], *best[-1:]]))
        objective.stdin.close()
    record = {"problem": task["problem"], "seed": task["seed"], "sampler": name}
    return {**record, "best": best, "seconds": [round(s, 6) for s in seconds]}


def sampler(name: str, task: Record) -> Any:
    """Returns a sampler with its defaults; noise-free objectives are declared deterministic."""
    import optuna

    from functionspace_bo.optuna import FunctionSpaceSampler

    if name == "FunctionSpaceSampler":
        return FunctionSpaceSampler(seed=task["seed"], deterministic_objective=task["noise_free"])
    if name == "GPSampler":
        import torch

        torch.set_num_threads(1)
        return optuna.samplers.GPSampler(
            seed=task["seed"], deterministic_objective=task["noise_free"]
        )
    return getattr(optuna.samplers, name)(seed=task["seed"])


def parameters(task: Record) -> list[Record]:
    """Returns the parameters of a task in the form of the study file."""
    given = task.get("space", {}).get("parameters") or [{"type": "float"} for _ in task["lo"]]
    return [
        {**p, "min": low, "max": high}
        for p, low, high in zip(given, task["lo"], task["hi"], strict=True)
    ]


def suggest(trial: Any, i: int, p: Record) -> float:
    """Returns a coordinate; the coordinate of an ordinal or categorical value is its index."""
    name, low, high = f"x{i}", p["min"], p["max"]
    if p["type"] == "categorical":
        return float(trial.suggest_categorical(name, list(range(int(low), int(high) + 1))))
    if p["type"] == "float":
        return float(trial.suggest_float(name, low, high, log=p.get("log", False)))
    return float(trial.suggest_int(name, int(low), int(high), log=p.get("log", False)))


def records(path: Path) -> Iterator[Record]:
    """Yields the records of a file."""
    if path.exists():
        yield from map(json.loads, path.read_text().splitlines())


def key(record: Record) -> tuple[str, int, str]:
    """Returns the run of a record."""
    return record["problem"], record["seed"], record["sampler"]


def report(found: list[Record], names: list[str]) -> None:
    """Prints mean ranks and seconds of the runs that all samplers have."""
    runs: dict[tuple[str, int], dict[str, Record]] = defaultdict(dict)
    for r in found:
        runs[r["problem"], r["seed"]][r["sampler"]] = r
    common = {run: of for run, of in runs.items() if of.keys() >= set(names)}
    print(f"{len(common)} runs of each sampler")
    for title, chosen in (
        ("all", common),
        ("mixed", {run: of for run, of in common.items() if run[0] in MIXED}),
        ("continuous", {run: of for run, of in common.items() if run[0] in CONTINUOUS}),
    ):
        for name in names:
            ranks = [rank(of, name, names) for of in chosen.values()]
            seconds = [s for of in chosen.values() for s in of[name]["seconds"]]
            if ranks:
                print(
                    f"{title:10}  {name:20}  mean rank {statistics.mean(ranks):.2f}  "
                    f"seconds of a suggestion: mean {statistics.mean(seconds):.3f}, "
                    f"median {statistics.median(seconds):.3f}"
                )


def rank(of: dict[str, Record], name: str, names: list[str]) -> float:
    """Returns the rank of the best value; equal values share their mean rank."""
    best: float = of[name]["best"][-1]
    last: list[float] = [of[other]["best"][-1] for other in names]
    lower = sum(v < best for v in last)
    equal = last.count(best)
    return lower + (equal + 1) / 2


if __name__ == "__main__":
    main()
