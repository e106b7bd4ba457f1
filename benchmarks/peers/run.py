#!/usr/bin/env python3
"""Measure Python packages on the problems of a suite of bo bench. See README.md."""

import argparse
import contextlib
import fcntl
import functools
import importlib
import itertools
import json
import multiprocessing
import os
import platform
import signal
import subprocess
import sys
import time
import warnings
from importlib import metadata
from pathlib import Path

# Method name: module in methods/ and class.
METHODS = {
    "botorch": ("botorch", "LogEI"),
    "botorch-lognehvi": ("botorch", "LogNEHVI"),
    "ax": ("ax", "Ax"),
    "optuna-gp": ("optuna", "GP"),
    "optuna-tpe": ("optuna", "TPE"),
    "optuna-tpe-group": ("optuna", "GroupTPE"),
    "optuna-nsgaii": ("optuna", "NSGAII"),
    "optuna-bo": ("optuna", "FunctionSpace"),
    "smac": ("smac", "BlackBox"),
    "smac-tuning": ("smac", "Tuning"),
    "bayes-opt": ("bayesopt", "BayesOpt"),
    "hebo": ("hebo", "MACE"),
    "turbo": ("turbo", "TuRBO"),
    "sobol": ("sobol", "Sobol"),
    "gp": ("bo", "GP"),
    "gp:noise-free=false": ("bo", "NoisyGP"),
    "fsp-laplace": ("bo", "FSPLaplace"),
}

# Environment variables for the number of threads.
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "GOMAXPROCS")

FILE = "peers.jsonl"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("suite", help="name of a suite with objectives (bo bench list)")
    parser.add_argument("--problems", help="problems of the suite, separated by commas; default all")
    parser.add_argument("--seeds", type=int, help="seeds 1 to SEEDS; default the suite's number")
    parser.add_argument("--first", type=int, default=1, help="first seed; default 1")
    return parse(parser)


def parse(parser):
    """Returns the arguments, with the options that all suites have."""
    parser.add_argument("--methods", required=True, help="methods, separated by commas: " + ", ".join(METHODS))
    parser.add_argument("--budget", type=int, help="stop every run after BUDGET evaluations, for a trial; nothing is recorded")
    parser.add_argument("--out", type=Path, help="directory of the results; default bench/SUITE")
    parser.add_argument("--bo", default="bo", help="path of the program bo; default bo on PATH")
    parser.add_argument("--threads", type=int, default=2, help="threads of each run; default 2")
    parser.add_argument("--workers", type=int, default=1, help="number of parallel runs; default 1")
    args = parser.parse_args()
    args.methods = args.methods.split(",")
    for method in args.methods:
        if method not in METHODS:
            parser.error(f"unknown method {method}")
    args.out = args.out or Path("bench", args.suite)
    return args


def plan(args):
    """Returns the tasks of the suite in the order of bo bench run."""
    command = [args.bo, "bench", "plan", args.suite]
    command += [f"--problems={args.problems}"] if args.problems else []
    command += [f"--seeds={args.seeds}"] if args.seeds else []
    lines = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    return [task for task in map(json.loads, lines) if task["seed"] >= args.first]


class Objective:
    """An objective, evaluated by a process of bo bench evaluate."""

    def __init__(self, bo, task):
        command = [bo, "bench", "evaluate", task["suite"], task["problem"], f"--seed={task['seed']}"]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
        )

    def __call__(self, x):
        """Returns the observed value and, under added noise, the noise-free value; then the numbers of outcomes."""
        print(json.dumps(x), file=self.process.stdin, flush=True)
        return json.loads(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def key(record):
    return record["problem"], record["method"], record["seed"]


def finished(out):
    """Returns the keys of the runs in the directory."""
    keys = set()
    for path in out.glob("*.jsonl"):
        for line in path.read_text().splitlines(keepends=True):
            if line.endswith("\n"):
                keys.add(key(json.loads(line)))
    return keys


@contextlib.contextmanager
def claim(out, run):
    """Yields whether this process has the run to do. A claim ends with its process."""
    path = out / "claims" / "-".join(map(str, run))
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        yield run not in finished(out)
        path.unlink(missing_ok=True)


def append(out, record):
    """Appends the record in one write, after removing an incomplete last line."""
    with (out / FILE).open("ab+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        text = file.read()
        file.truncate(text.rfind(b"\n") + 1)
        file.write(json.dumps(record, allow_nan=False).encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())


def run(job):
    """Performs a run unless another process has claimed or finished it; returns its record."""
    args, task, method = job
    name = (task["problem"], method, task["seed"])
    with claim(args.out, name) as mine:
        if not mine:
            return None
        record = measure(args, task, method)
        if not args.budget:
            append(args.out, record)
        return record


def measure(args, task, method):
    """Returns the record of a run, with its error if it fails."""
    started = time.perf_counter()
    record = {k: v for k, v in task.items() if k not in ("lo", "hi", "points", "space", "reference", "bounds")}
    machine = {k: v for k, v in task["machine"].items() if k != "go"}
    record["machine"] = machine | {"threads": args.threads, "workers": args.workers}
    record |= {"method": method, "values": [], "suggest_s": []}
    objective = args.objective(task)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            optimise(record, objective, task, args)
    except Exception as error:
        record["error"] = f"{type(error).__name__}: {error}"
    finally:
        objective.close()
    if "minimum" in task:
        best = itertools.accumulate(record.get("latent", record["values"]), min)
        record["regret"] = [b - task["minimum"] for b in best]
    record["elapsed_s"] = round(time.perf_counter() - started, 9)
    record["date"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    return record


def optimise(record, objective, task, args):
    """Evaluates points until the budget is spent, and records each evaluation."""
    numbers = len(task.get("reference", [])) + len(task.get("bounds", []))

    def evaluate(points):
        """Returns values, or lists of the objectives and the bounded numbers."""
        found = [objective(x) for x in points]
        record["values"] += [f[0] for f in found]
        if len(found[0]) > 1 + numbers:
            record.setdefault("latent", []).extend(f[1] for f in found)
        return [f[-numbers:] if numbers else f[0] for f in found]

    module, name = METHODS[record["method"]]
    peer_class = getattr(importlib.import_module("methods." + module), name)
    record["version"] = versions(peer_class.packages)
    if numbers and not getattr(peer_class, "several", False):
        raise NotImplementedError("only one objective")
    peer = peer_class(task, args.threads)
    points = task["points"]
    values = evaluate(points)
    record["suggest_s"] += [0.0] * len(points)
    while len(record["values"]) < (args.budget or task["budget"]):
        asked = time.perf_counter()
        peer.tell(points, values)
        x = peer.ask()
        seconds = time.perf_counter() - asked
        # Rounding errors must not leave the box.
        limits = zip(x, task["lo"], task["hi"])
        points = [[None if v is None else min(max(float(v), lo), hi) for v, lo, hi in limits]]
        values = evaluate(points)
        record["suggest_s"].append(round(seconds, 9))


def versions(packages):
    return ", ".join([f"{p} {metadata.version(p)}" for p in packages] + [f"Python {platform.python_version()}"])


def perform(args, tasks):
    """Performs the runs of all methods on the tasks; args.objective returns the objective of a task."""
    os.environ.update(dict.fromkeys(THREADS, str(args.threads)))
    args.out.mkdir(parents=True, exist_ok=True)
    done = finished(args.out)
    jobs = [(args, task, method) for task in tasks for method in args.methods]
    left = [(a, t, m) for a, t, m in jobs if (t["problem"], m, t["seed"]) not in done]
    print(f"{args.out / FILE}: {len(left)} of {len(jobs)} runs to do, {args.workers} in parallel", flush=True)
    # Each run has a new process, so that no package or earlier run affects it.
    context = multiprocessing.get_context("spawn")
    try:
        with context.Pool(args.workers, initializer=ignore_interrupts, maxtasksperchild=1) as pool:
            for n, record in enumerate(pool.imap(run, left), len(jobs) - len(left) + 1):
                if record:
                    print(f"{n}/{len(jobs)}  {outcome(record)}", flush=True)
    except KeyboardInterrupt:
        sys.exit("interrupted; the same command continues")


def ignore_interrupts():
    """Ignores interrupts; the main process handles them and ends the workers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def outcome(record):
    head = f"{record['problem']} {record['method']} seed {record['seed']}"
    if "error" in record:
        return f"{head}  failed: {record['error']}"
    later = sorted(record["suggest_s"][record["initial"]:]) or [0]
    result = f"regret {record['regret'][-1]:.2g}" if "regret" in record else f"best value {min(record['values']):.4g}"
    return f"{head}  {result}  in {record['elapsed_s']:.1f} s, {later[len(later) // 2]:.2f} s a suggestion"


def main():
    args = arguments()
    args.objective = functools.partial(Objective, args.bo)
    perform(args, plan(args))


if __name__ == "__main__":
    main()
