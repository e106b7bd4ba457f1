#!/usr/bin/env python3
"""Run bo and other packages on the noise-free functions of COCO, by COCO's own code. See README.md."""

import argparse
import contextlib
import math
import os
import platform
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import run

# The 24 functions of Hansen, Finck, Ros and Auger (2009); and with integers for four fifths of the inputs, after
# Tušar, Brockhoff and Hansen (2019).
SUITES = ["bbob", "bbob-mixint"]

# Points that all methods share, as in the suites of bo bench.
INITIAL = 10


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("suite", choices=SUITES, help="a suite of COCO")
    parser.add_argument("--functions", default="1-24", help="range of functions; default 1-24")
    parser.add_argument("--dims", default="3,5", help="numbers of inputs, separated by commas; default 3,5")
    parser.add_argument("--instances", default="1-3", help="range of instances; default 1-3")
    args = run.parse(parser)
    args.objective = Function
    return args


def functions(suite, numbers, dims, instances):
    """Returns functions of a suite of COCO. A range is a text such as 1-24."""
    import cocoex

    return cocoex.Suite(suite, f"instances: {instances}", f"dimensions: {dims} function_indices: {numbers}")


def minimum(problem):
    """Returns the least value. COCO writes the minimiser to a file in the working directory."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        problem._best_parameter("print")
        written = next(Path(folder).iterdir()).read_text()
    return float(problem([float(word) for word in written.split()]))


def plan(args):
    """Returns a task for each function, number of inputs and instance; the seed is the number of the instance."""
    from scipy.stats import qmc

    machine, revision, tasks = {"os": platform.system().lower(), "cores": os.cpu_count()}, commit(args.bo), []
    for problem in functions(args.suite, args.functions, args.dims, args.instances):
        function, dim, instance = problem.id_triple
        if str(dim) not in args.dims.split(","):  # COCO returns all numbers of inputs if it has none of these
            continue
        lo, hi = problem.lower_bounds.tolist(), problem.upper_bounds.tolist()
        integers = problem.number_of_integer_variables  # the first inputs
        unit = qmc.Sobol(dim, rng=1000 * function + instance).random_base2(4)[:INITIAL]
        points = [
            [math.floor(low + u * (high - low + 1)) if i < integers else low + u * (high - low)
             for i, (u, low, high) in enumerate(zip(row, lo, hi))]
            for row in unit.tolist()
        ]
        tasks.append({
            "suite": args.suite,
            "problem": f"f{function:02}-{dim}",
            "seed": instance,
            "dim": dim,
            "budget": 10 * dim + 50,
            "initial": INITIAL,
            "batch": 1,
            "noise_free": True,
            "minimum": minimum(problem),
            "machine": machine,
            "commit": revision,
            "lo": lo,
            "hi": hi,
            "points": points,
        })
        if integers:
            kinds = ["int"] * integers + ["float"] * (dim - integers)
            tasks[-1]["space"] = {"parameters": [{"name": f"x{i}", "type": kind} for i, kind in enumerate(kinds)]}
    return tasks


class Function:
    """A function of COCO as an objective."""

    def __init__(self, task):
        function, dim = task["problem"].removeprefix("f").split("-")
        self.suite = functions(task["suite"], function, dim, task["seed"])  # owns the function
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
    tasks = plan(args)
    if not tasks:
        sys.exit(f"{args.suite} has no functions {args.functions} with {args.dims} inputs")
    run.perform(args, tasks)


if __name__ == "__main__":
    main()
