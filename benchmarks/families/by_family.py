"""Compare methods by families: python3 by_family.py [--by-problem] [--at SHARE] RUNS METHOD OTHER...

RUNS is a file of records of bo bench. The family of a problem is its name without the size at its end, such as
discus of discus-8; with --by-problem it is the problem. The difference of a family is the mean of log10 regret of
METHOD minus OTHER over its problems and instances, at the end or after a SHARE of the evaluations. Problems
without a known minimum and failed runs are left out. Prints the families in which METHOD is lower, equal and higher, and the exact two-sided p-value of
Wilcoxon's signed-rank test.
"""

import argparse
import json
import math
import re
from collections import defaultdict


def signed_rank(differences):
    """Return the exact two-sided p-value; zeros are omitted, and ties have mean ranks."""
    values = sorted((d for d in differences if d), key=abs)
    doubled = []
    for value in values:
        below = sum(abs(v) < abs(value) for v in values)
        doubled.append(2 * below + sum(abs(v) == abs(value) for v in values) + 1)
    counts = [1]
    for rank in doubled:
        longer = counts + [0] * rank
        for i, count in enumerate(counts):
            longer[i + rank] += count
        counts = longer
    positive = sum(rank for rank, value in zip(doubled, values) if value > 0)
    tail = sum(counts[: min(positive, sum(doubled) - positive) + 1])
    return min(1, 2 * tail / 2 ** len(values))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--by-problem", action="store_true")
    parser.add_argument("--at", type=float, default=1.0)
    parser.add_argument("runs")
    parser.add_argument("method")
    parser.add_argument("others", nargs="+")
    args = parser.parse_args()
    logs = {}
    with open(args.runs) as lines:
        for record in map(json.loads, lines):
            if record.get("regret") and not record.get("error"):
                evaluations = max(1, math.floor(args.at * len(record["regret"]) + 0.5))
                regret = max(record["regret"][evaluations - 1], 1e-10)
                logs[record["method"], record["problem"], record["seed"]] = math.log10(regret)
    size = r"$" if args.by_problem else r"-?\d*$"
    for other in args.others:
        families = defaultdict(list)
        for (name, problem, seed), value in logs.items():
            if name == args.method and (other, problem, seed) in logs:
                families[re.sub(size, "", problem)].append(value - logs[other, problem, seed])
        means = [sum(d) / len(d) for d in families.values()]
        lower, higher = sum(m < 0 for m in means), sum(m > 0 for m in means)
        print(f"{other}: {len(means)} {'problems' if args.by_problem else 'families'}, lower {lower}, "
              f"equal {len(means) - lower - higher}, higher {higher}, p = {signed_rank(means):.2g}")


main()
