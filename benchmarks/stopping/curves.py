"""Writes learning curves of gradient boosting or of an MLP on the digits of scikit-learn.

    python curves.py boosting boosting.jsonl
    python curves.py mlp mlp.jsonl

A line is [point of the unit cube, log losses on held-out images after 1 to 27 steps]. The stored curves were
made with scikit-learn 1.9.1, SciPy 1.17.1 and NumPy 2.4.6.
"""

import json
import sys
import warnings

import numpy as np
from scipy.stats import qmc
from sklearn.datasets import load_digits
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import StandardScaler

STEPS, POINTS = 27, 256


def loss(y, probabilities):
    p = np.clip(probabilities, 1e-4, 1)
    return round(float(log_loss(y, p / p.sum(axis=1, keepdims=True))), 5)


def mlp(u, train, held_out):
    scaler = StandardScaler().fit(train[0])
    model = MLPClassifier(
        (int(round(2 ** (2 + 5 * u[2]))),),
        learning_rate_init=10 ** (-4.5 + 4 * u[0]),
        alpha=10 ** (-6 + 6 * u[1]),
        batch_size=int(round(2 ** (3 + 5 * u[3]))),
        random_state=0,
    )
    for _ in range(STEPS):
        model.partial_fit(scaler.transform(train[0]), train[1], classes=np.arange(10))
        yield loss(held_out[1], model.predict_proba(scaler.transform(held_out[0])))


def boosting(u, train, held_out):
    model = GradientBoostingClassifier(
        learning_rate=10 ** (-2.5 + 2.5 * u[0]),
        max_depth=1 + int(u[1] * 5),
        subsample=0.2 + 0.8 * u[2],
        min_samples_leaf=int(round(10 ** (1.7 * u[3]))),
        n_estimators=STEPS,
        max_features=8,
        random_state=0,
    )
    model.fit(train[0][:500], train[1][:500])
    for p in model.staged_predict_proba(held_out[0]):
        yield loss(held_out[1], p)


def main(name, path):
    warnings.filterwarnings("ignore")
    x, y = load_digits(return_X_y=True)
    x_train, x_held, y_train, y_held = train_test_split(x, y, test_size=0.5, random_state=0, stratify=y)
    curve, seed = {"mlp": (mlp, 1), "boosting": (boosting, 2)}[name]
    with open(path, "w") as file:
        for u in qmc.Sobol(4, seed=seed).random(POINTS):
            values = list(curve(u, (x_train, y_train), (x_held, y_held)))
            print(json.dumps([[round(float(v), 6) for v in u], values]), file=file, flush=True)


main(*sys.argv[1:])
