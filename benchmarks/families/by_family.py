"""Compare methods by families: python3 by_family.py RUNS METHOD OTHER...

RUNS is a file of records of families/dev or families/confirm. The difference of a family is the mean of
log10 regret of METHOD minus OTHER over its problems and instances. Prints the families in which METHOD
is lower, equal and higher, and the exact two-sided p-value of Wilcoxon's signed-rank test.
"""

import json
import math
import sys
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
    path, method, *others = sys.argv[1:]
    logs = {}
    with open(path) as lines:
        for record in map(json.loads, lines):
            regret = max(record["regret"][-1], 1e-10)
            logs[record["method"], record["problem"], record["seed"]] = math.log10(regret)
    for other in others:
        families = defaultdict(list)
        for (name, problem, seed), value in logs.items():
            if name == method and (other, problem, seed) in logs:
                families[problem.rsplit("-", 1)[0]].append(value - logs[other, problem, seed])
        means = [sum(d) / len(d) for d in families.values()]
        lower, higher = sum(m < 0 for m in means), sum(m > 0 for m in means)
        print(f"{other}: {len(means)} families, lower {lower}, equal {len(means) - lower - higher}, "
              f"higher {higher}, p = {signed_rank(means):.2g}")


main()
