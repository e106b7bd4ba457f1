"""Exact posteriors of the classifiers in laplace.json, by elliptical slice sampling (Murray, Adams and
MacKay, AISTATS 2010).

    python sampled.py > sampled.json

For each problem, in the order of laplace.json: the latent means and variances at the points "at" (of each
latent function), and the probabilities of each class, with their standard errors over 20 parts of the chain.
"""
import json
import sys
from pathlib import Path

import numpy as np
import scipy
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern

STEPS, BURN, EVERY, PARTS = 420_000, 20_000, 20, 20
KERNELS = [
    ConstantKernel(1.7) * RBF([0.3, 0.6]),
    ConstantKernel(9.0) * Matern(0.8, nu=2.5),
    ConstantKernel(400.0) * RBF(0.4),
    ConstantKernel(2.5) * Matern([0.3, 0.6], nu=1.5),
    ConstantKernel(30.0) * Matern(0.7, nu=0.5),
]


def sample(kernel, x, at, means, log_likelihood, probability, rng):
    """Latent functions are the rows of f; draws at the points come from their conditional distribution."""
    k = kernel(x) + 1e-9 * np.eye(len(x))
    root, cross = np.linalg.cholesky(k), kernel(at, x)
    gain = np.linalg.solve(k, cross.T).T
    deviation = np.sqrt(np.maximum(kernel.diag(at) - (gain * cross).sum(axis=1), 0))
    shape = (len(means), len(x))
    f, current = np.zeros(shape), log_likelihood(means + np.zeros(shape))
    total, squares, parts = 0, 0, np.zeros((PARTS, *probability(np.zeros((len(means), len(at)))).shape))
    for step in range(STEPS):
        other, least = rng.standard_normal(shape) @ root.T, current + np.log(rng.random())
        angle = rng.uniform(0, 2 * np.pi)
        lo, hi = angle - 2 * np.pi, angle
        while True:
            new = f * np.cos(angle) + other * np.sin(angle)
            current = log_likelihood(new + means)
            if current > least:
                break
            lo, hi = (angle, hi) if angle < 0 else (lo, angle)
            angle = rng.uniform(lo, hi)
        f = new
        if step >= BURN and step % EVERY == 0:
            mean = means + f @ gain.T
            drawn = mean + deviation * rng.standard_normal(mean.shape)
            total, squares = total + mean, squares + mean**2 + deviation**2
            parts[(step - BURN) * PARTS // (STEPS - BURN)] += probability(drawn)
    kept = (STEPS - BURN) // EVERY
    mean = total / kept
    parts *= PARTS / kept
    return mean, squares / kept - mean**2, parts.mean(axis=0), parts.std(axis=0, ddof=1) / PARTS**0.5


def softmax(f):
    e = np.exp(f - f.max(axis=0))
    return e / e.sum(axis=0)


def problem(index, p, classes):
    x, at, y = np.array(p["x"]), np.array(p["at"]), np.array(p["y"])
    sign, rows = np.where(y == 1, 1.0, -1.0), np.arange(len(y))
    if classes == 2:
        args = np.zeros((1, 1)), lambda f: -np.logaddexp(0, -sign * f[0]).sum(), lambda f: softmax(np.stack([0 * f[0], f[0]])).T
    else:
        args = np.array(p["means"])[:, None], lambda f: np.log(softmax(f)[y, rows]).sum(), lambda f: softmax(f).T
    mean, variance, prob, error = sample(KERNELS[index], x, at, *args, np.random.default_rng(index))
    return {
        "kernel": p["kernel"],
        "mean": mean.T.tolist(),
        "variance": variance.T.tolist(),
        "probability": prob.tolist(),
        "error": error.tolist(),
    }


known = json.loads((Path(__file__).parent / "laplace.json").read_text())
out = [problem(i, p, 2) for i, p in enumerate(known["binary"])]
out += [problem(len(out) + i, p, 3) for i, p in enumerate(known["multiclass"])]
json.dump({"versions": {"numpy": np.__version__, "scipy": scipy.__version__}, "problems": out}, sys.stdout)
