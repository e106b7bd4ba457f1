#!/usr/bin/env python3
"""Run bo and other packages on the 24 noise-free functions of COCO, by COCO's own code. See README.md."""

import argparse
import contextlib
import os
import re
import subprocess
import tempfile
from pathlib import Path

import run

# The suite "bbob" of Hansen, Finck, Ros and Auger (2009).
SUITE = "bbob"

# Points that all methods share, as in the suites of bo bench.
INITIAL = 10


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--methods", required=True, help="methods, separated by commas: " + ", ".join(run.METHODS))
    parser.add_argument("--functions", default="1-24", help="range of functions; default 1-24")
    parser.add_argument("--dims", default="3,5", help="numbers of inputs, separated by commas; default 3,5")
    parser.add_argument("--instances", default="1-3", help="range of instances; default 1-3")
    parser.add_argument("--budget", type=int, help="stop every run after BUDGET evaluations, for a trial; nothing is recorded")
    parser.add_argument("--out", type=Path, default=Path("bench", SUITE), help="directory of the results; default bench/bbob")
    parser.add_argument("--bo", default="bo", help="path of the program bo; default bo on PATH")
    parser.add_argument("--threads", type=int, default=2, help="threads of each run; default 2")
    parser.add_argument("--workers", type=int, default=1, help="number of parallel runs; default 1")
    args = parser.parse_args()
    args.methods = args.methods.split(",")
    args.objective = Function
    return args


def suite(functions, dims, instances):
    """Returns COCO's suite. A range is a text such as 1-24."""
    import cocoex

    return cocoex.Suite(SUITE, f"instances: {instances}", f"dimensions: {dims} function_indices: {functions}")


def minimum(problem):
    """Returns the least value. COCO writes the minimiser to a file in the working directory."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        problem._best_parameter("print")
        written = next(Path(folder).iterdir()).read_text()
    return float(problem([float(word) for word in written.split()]))


def plan(args):
    """Returns a task for each function, number of inputs and instance; the seed is the number of the instance."""
    from scipy.stats import qmc

    tasks = []
    for problem in suite(args.functions, args.dims, args.instances):
        function, dim, instance = problem.id_triple
        lo, hi = problem.lower_bounds.tolist(), problem.upper_bounds.tolist()
        unit = qmc.Sobol(dim, rng=1000 * function + instance).random_base2(4)[:INITIAL]
        tasks.append({
            "suite": SUITE,
            "problem": f"f{function:02}-{dim}",
            "seed": instance,
            "dim": dim,
            "budget": 10 * dim + 50,
            "initial": INITIAL,
            "batch": 1,
            "noise_free": True,
            "minimum": minimum(problem),
            "machine": {"os": "linux", "cores": os.cpu_count()},
            "commit": commit(args.bo),
            "lo": lo,
            "hi": hi,
            "points": qmc.scale(unit, lo, hi).tolist(),
        })
    return tasks


class Function:
    """A function of COCO as an objective."""

    def __init__(self, task):
        function, dim = task["problem"].removeprefix("f").split("-")
        self.suite = suite(function, dim, str(task["seed"]))  # owns the function
        self.problem = next(iter(self.suite))

    def __call__(self, x):
        return [float(self.problem(x))]

    def close(self):
        self.problem.free()


def commit(bo):
    """Returns the commit of the program bo, or an empty text."""
    version = subprocess.run([bo, "version"], check=True, capture_output=True, text=True).stdout
    found = re.search(r" ([0-9a-f]{12}(\+changes)?) go", version)
    return found[1] if found else ""


def main():
    args = arguments()
    os.environ["BO_BINARY"] = args.bo  # the Python package runs this program
    run.perform(args, plan(args))


if __name__ == "__main__":
    main()
