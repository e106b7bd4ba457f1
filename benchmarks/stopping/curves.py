"""Writes learning curves of gradient boosting or of an MLP.

    python curves.py boosting boosting.jsonl
    python curves.py mlp-concrete mlp-concrete.jsonl ../../../shared/data

A line is [point of the unit cube, losses on held-out rows after 1 to 27 steps]: log losses of a class, mean
squared errors of a number. boosting and mlp are of the digits of scikit-learn, the names with "cancer" of its
breast cancer data. The others read a folder of the data of docs/uci.md. The stored curves were made with
scikit-learn 1.9.1, SciPy 1.17.1 and NumPy 2.4.6.
"""

import json
import pathlib
import sys
import warnings

import numpy as np
from scipy.stats import qmc
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.preprocessing import StandardScaler

STEPS, POINTS = 27, 256


def loss(y, probabilities):
    p = np.clip(probabilities, 1e-4, 1)
    return round(float(log_loss(y, p / p.sum(axis=1, keepdims=True))), 5)


def error(y, prediction):
    return round(float(np.clip(np.mean((y - prediction) ** 2), 1e-4, 1e4)), 5)


def mlp(u, train, held_out, classes):
    scaler = StandardScaler().fit(train[0])
    model = (MLPRegressor if classes is None else MLPClassifier)(
        hidden_layer_sizes=(int(round(2 ** (2 + 5 * u[2]))),),
        learning_rate_init=10 ** (-4.5 + 4 * u[0]),
        alpha=10 ** (-6 + 6 * u[1]),
        batch_size=int(round(2 ** (3 + 5 * u[3]))),
        random_state=0,
    )
    x = scaler.transform(held_out[0])
    for _ in range(STEPS):
        if classes is None:
            model.partial_fit(scaler.transform(train[0]), train[1])
            yield error(held_out[1], model.predict(x))
        else:
            model.partial_fit(scaler.transform(train[0]), train[1], classes=classes)
            yield loss(held_out[1], model.predict_proba(x))


def boosting(u, train, held_out, classes):
    model = (GradientBoostingRegressor if classes is None else GradientBoostingClassifier)(
        learning_rate=10 ** (-2.5 + 2.5 * u[0]),
        max_depth=1 + int(u[1] * 5),
        subsample=0.2 + 0.8 * u[2],
        min_samples_leaf=int(round(10 ** (1.7 * u[3]))),
        n_estimators=STEPS,
        max_features=min(8, train[0].shape[1]),
        random_state=0,
    )
    model.fit(train[0][:500], train[1][:500])
    if classes is None:
        for p in model.staged_predict(held_out[0]):
            yield error(held_out[1], p)
    else:
        for p in model.staged_predict_proba(held_out[0]):
            yield loss(held_out[1], p)


def rows(name, data):
    """Returns inputs and classes, or inputs and a standardised number of at most 2000 random rows."""
    if name == "digits":
        return load_digits(return_X_y=True)
    if name == "cancer":
        return load_breast_cancer(return_X_y=True)
    table = np.loadtxt(pathlib.Path(data) / name / "data.csv", delimiter=",", skiprows=1)
    table = np.random.default_rng(0).permutation(table)[:2000]
    return table[:, :-1], (table[:, -1] - table[:, -1].mean()) / table[:, -1].std()


def main(name, path, data=None):
    warnings.filterwarnings("ignore")
    method, _, table = name.partition("-")
    x, y = rows(table or "digits", data)
    classes = np.unique(y) if np.issubdtype(y.dtype, np.integer) else None
    x_train, x_held, y_train, y_held = train_test_split(
        x, y, test_size=0.5, random_state=0, stratify=None if classes is None else y
    )
    curve, seed = {"mlp": (mlp, 1), "boosting": (boosting, 2)}[method]
    with open(path, "w") as file:
        for u in qmc.Sobol(4, seed=seed).random(POINTS):
            values = list(curve(u, (x_train, y_train), (x_held, y_held), classes))
            print(json.dumps([[round(float(v), 6) for v in u], values]), file=file, flush=True)


main(*sys.argv[1:])
