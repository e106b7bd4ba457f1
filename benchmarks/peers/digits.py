#!/usr/bin/env python3
"""Measure classifiers of scikit-learn on its digits, as paper/digits does with other random images. See README.md."""

import argparse
import json
import time
from pathlib import Path

import numpy
from run import versions
from scipy.special import expit
from sklearn.datasets import load_digits
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import ConstantKernel, Matern
from sklearn.linear_model import LogisticRegression

CLASSES = 8  # images of the classes 0 to 7
BINS = 15
QUANTITIES = ("accuracy", "log_prob", "ece")


def process():
    """A Gaussian process with one lengthscale, one class against the rest, by Laplace's approximation."""
    kernel = ConstantKernel(1, (1e-3, 1e5)) * Matern(2, nu=2.5)
    return GaussianProcessClassifier(kernel, random_state=0)


class Sampled:
    """The classifier of process() with its kernels, but the exact posterior, sampled by elliptical slices.

    Each class has a chain of 12 000 steps from the mode. Every tenth after the first 2000 is kept.
    """

    steps, burn, every = 12_000, 2000, 10

    def fit(self, x, y):
        self.x, self.y, self.laplace = x, y, process().fit(x, y)
        return self

    def predict_proba(self, x):
        classes = [self.positive(c, e, x) for c, e in enumerate(self.laplace.base_estimator_.estimators_)]
        p = numpy.stack(classes, axis=1)
        return p / p.sum(axis=1, keepdims=True)

    def positive(self, label, estimator, x):
        """Returns the probabilities of a class against the rest at the rows of x."""
        rng, sign = numpy.random.default_rng(0), numpy.where(self.y == label, 1.0, -1.0)
        kernel = estimator.kernel_
        k = kernel(self.x) + 1e-8 * numpy.eye(len(self.x))
        root, cross = numpy.linalg.cholesky(k), kernel(x, self.x)
        weights = numpy.linalg.solve(k, cross.T).T
        deviation = numpy.sqrt(numpy.maximum(kernel.diag(x) - (weights * cross).sum(axis=1), 0))

        def likelihood(f):
            return -numpy.logaddexp(0, -sign * f).sum()

        f = k @ ((self.y == label) - estimator.pi_)
        current, total, kept = likelihood(f), numpy.zeros(len(x)), 0
        for step in range(self.steps):
            prior, least = root @ rng.standard_normal(len(f)), current + numpy.log(rng.random())
            angle = rng.uniform(0, 2 * numpy.pi)
            lo, hi = angle - 2 * numpy.pi, angle
            while (current := likelihood(g := f * numpy.cos(angle) + prior * numpy.sin(angle))) <= least:
                lo, hi = (angle, hi) if angle < 0 else (lo, angle)
                angle = rng.uniform(lo, hi)
            f = g
            if step >= self.burn and step % self.every == 0:
                values = weights @ f + deviation * rng.standard_normal(len(x))
                total, kept = total + expit(values), kept + 1
        return total / kept


METHODS = {
    "scikit-learn:GaussianProcessClassifier": process,
    "scikit-learn:GaussianProcessClassifier:sampled": Sampled,
    "scikit-learn:LogisticRegression": lambda: LogisticRegression(max_iter=1000),
}
SLOW = "scikit-learn:GaussianProcessClassifier:sampled"  # with 200 labels only


def measure(probabilities, labels):
    """Returns the quantities of paper/digits for the rows of probabilities."""
    right = probabilities.argmax(axis=1) == labels
    confidence = probabilities.max(axis=1)
    bins = numpy.ceil(confidence * BINS)
    ece = sum(abs(right[at].sum() - confidence[at].sum()) for b in range(1, BINS + 1) for at in [bins == b])
    log_prob = numpy.log(probabilities[numpy.arange(len(labels)), labels]).mean()
    return dict(zip(QUANTITIES, map(float, (right.mean(), log_prob, ece / len(labels)))))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5, help="seeds 1 to SEEDS; default 5")
    parser.add_argument("--out", type=Path, required=True, help="file of the records, which is replaced")
    args = parser.parse_args()
    images, labels = load_digits(return_X_y=True)
    images, labels = images[labels < CLASSES] / 16, labels[labels < CLASSES]
    with args.out.open("w") as file:
        for size in (200, 500):
            for method, make in METHODS.items():
                if method == SLOW and size > 200:
                    continue
                rows = []
                for seed in range(1, args.seeds + 1):
                    order = numpy.random.default_rng(seed).permutation(len(labels))
                    train, test = order[:size], order[size:]
                    started = time.perf_counter()
                    model = make().fit(images[train], labels[train])
                    measures = measure(model.predict_proba(images[test]), labels[test])
                    record = {"problem": f"{size}-labels", "method": method, "seed": seed, "measures": measures}
                    record |= {"elapsed_s": time.perf_counter() - started, "version": versions(["scikit-learn"])}
                    file.write(json.dumps(record) + "\n")
                    file.flush()
                    rows.append([measures[q] for q in QUANTITIES])
                errors = numpy.std(rows, axis=0, ddof=1) / len(rows) ** 0.5
                text = ", ".join(
                    f"{q} {m:.3f} ± {e:.3f}" for q, m, e in zip(QUANTITIES, numpy.mean(rows, axis=0), errors)
                )
                print(f"{size} labels, {method}: {text} ({len(rows)})", flush=True)


if __name__ == "__main__":
    main()
