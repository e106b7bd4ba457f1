"""Signed-rank p-values, quantiles and bootstrap intervals from SciPy and NumPy.
Writes statistics.json beside itself."""
import json
import os
import sys

import numpy as np
import scipy
from scipy import stats

rng = np.random.default_rng(7)


def case(d, method, **options):
    d = np.asarray(d, float)
    nonzero = d[d != 0]
    r = stats.wilcoxon(nonzero, method=method, correction=False, **options)
    return {"differences": d.tolist(), "p": float(r.pvalue)}


every = stats.PermutationMethod(n_resamples=np.inf)
signed_rank = [
    case([1.5], "exact"),
    case([-3.0, -2.0, -1.0, -0.5, -0.25], "exact"),
    case(rng.normal(0.3, 1, 10), "exact"),
    case(rng.normal(-0.8, 1, 10), "exact"),
    case(rng.normal(0.2, 1, 50), "exact"),
    case([0, 1, 2, 3, -4, 5], "exact"),
    # Ties: the distribution of the shared ranks, by all sign flips.
    case([1, 1, -1, 2, 2, 3], every),
    case([0, 0, 0.5, 0.5, 0.5, -0.5, 1, 1, -2, 3, 3, 3], every),
    case(np.round(rng.normal(0.5, 1, 14)), every),
    # Many differences: the normal approximation.
    case(rng.normal(0.05, 1, 250), "approx"),
    case(np.round(rng.normal(0.15, 1, 400), 1), "approx"),
]

samples = [[2.0], [1.0, 4.0], rng.normal(size=7).tolist(), rng.exponential(size=10).tolist(), rng.normal(size=40).tolist()]
quantiles = [
    {"sample": s, "q1": float(np.quantile(s, 0.25)), "median": float(np.quantile(s, 0.5)), "q3": float(np.quantile(s, 0.75)),
     "mean": float(np.mean(s)), "se": float(stats.sem(s)) if len(s) > 1 else 0.0}
    for s in samples
]


def interval(s):
    r = stats.bootstrap((np.array(s),), np.mean, n_resamples=400_000, batch=10_000, confidence_level=0.95, method="percentile", rng=rng)
    return {"sample": s, "lo": float(r.confidence_interval.low), "hi": float(r.confidence_interval.high)}


ranks = [{"sample": s, "ranks": stats.rankdata(s).tolist()} for s in ([3.0], [2.0, 1.0, 3.0], [1.0, 1.0], [5.0, 2.0, 5.0, 5.0, 1.0, 2.0])]

out = {
    "versions": {"python": sys.version.split()[0], "numpy": np.__version__, "scipy": scipy.__version__},
    "signed_rank": signed_rank,
    "quantiles": quantiles,
    "bootstrap_mean_95": [interval(s) for s in samples[2:]],
    "midranks": ranks,
}
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "statistics.json"), "w") as f:
    json.dump(out, f, indent=1)
    f.write("\n")
