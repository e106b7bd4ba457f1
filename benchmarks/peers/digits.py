#!/usr/bin/env python3
"""Measure classifiers of scikit-learn on its digits, as paper/digits does with other random images. See README.md."""

import argparse
import json
import time
from pathlib import Path

import numpy
from run import versions
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


METHODS = {
    "scikit-learn:GaussianProcessClassifier": process,
    "scikit-learn:LogisticRegression": lambda: LogisticRegression(max_iter=1000),
}


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
