#!/usr/bin/env python3
"""Make the tables of package families: errors of learning algorithms on grids of their settings.

    OMP_NUM_THREADS=1 python3 make.py [--data DIR] [TABLE ...]

It needs numpy and scikit-learn in the versions of ../../peers/requirements.txt. DIR has the folders
concrete and yacht (file data.csv, target last) and pvlab_materials. Every table is a JSON file in this folder: the
parameters with their levels, and for each measure the values of all combinations, the last parameter
fastest. A table takes one to fifteen minutes on one core.
"""

import argparse
import itertools
import json
import warnings
from pathlib import Path

import numpy as np
import sklearn
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor, RandomForestClassifier
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics import log_loss
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC

HERE = Path(__file__).parent
FOLDS, SEED = 3, 0


def logs(low, high, n):
    return [float(f"{v:.4g}") for v in np.geomspace(low, high, n)]


def number(name, levels, log=False, whole=False):
    return {"name": name, "levels": levels, "log": log, "int": whole}


def choice(name, *values):
    return {"name": name, "levels": list(values), "choice": True}


def digits():
    """The first 1000 digits, with inputs in [0,1]."""
    x, y = load_digits(return_X_y=True)
    return x[:1000] / 16, y[:1000]


def cancer():
    return load_breast_cancer(return_X_y=True)


def folds(x, y):
    """Training and test parts of the data."""
    splits = StratifiedKFold(FOLDS, shuffle=True, random_state=SEED).split(x, y)
    return [(x[a], y[a], x[b], y[b]) for a, b in splits]


def scaled(parts, scaling):
    for a, ya, b, yb in parts:
        if scaling != "none":
            scaler = {"standard": StandardScaler, "range": MinMaxScaler}[scaling]().fit(a)
            a, b = scaler.transform(a), scaler.transform(b)
        yield a, ya, b, yb


def wrong(model, parts):
    """The number of wrong labels over all folds."""
    return sum(int((model.fit(a, ya).predict(b) != yb).sum()) for a, ya, b, yb in parts)


def write(name, data, parameters, values):
    """Writes a table; values maps a measure to a list."""
    size = int(np.prod([len(p["levels"]) for p in parameters]))
    assert all(len(v) == size for v in values.values()), name
    table = {
        "name": name,
        "source": f"scikit-learn {sklearn.__version__}: {data}",
        "parameters": parameters,
        "measures": values,
    }
    (HERE / f"{name}.json").write_text(json.dumps(table, separators=(",", ":")) + "\n")
    print(name, size, {k: (min(v), max(v)) for k, v in values.items()}, flush=True)


def over(parameters, function):
    """Returns function at all combinations; it takes the levels by position."""
    return [function(*levels) for levels in itertools.product(*[p["levels"] for p in parameters])]


def svm(name, data, scalings):
    parts = {s: list(scaled(folds(*data), s)) for s in scalings}
    parameters = [
        choice("kernel", "rbf", "poly", "sigmoid"),
        choice("scaling", *scalings),
        number("degree", [2, 3, 4], whole=True),
        number("coef0", [0.0, 0.5, 1.0]),
        number("C", logs(1e-2, 1e4, 7), log=True),
        number("gamma", logs(1e-4, 10, 11), log=True),
    ]
    known = {}

    def errors(kernel, scaling, degree, coef0, c, gamma):
        used = kernel, scaling, degree if kernel == "poly" else 3, coef0 if kernel != "rbf" else 0, c, gamma
        if used not in known:
            model = SVC(kernel=kernel, degree=used[2], coef0=used[3], C=c, gamma=gamma, max_iter=20000)
            known[used] = wrong(model, parts[scaling])
        return known[used]

    write(name, "wrong labels of SVC in 3-fold cross-validation", parameters, {"wrong": over(parameters, errors)})


def svm_digits():
    svm("svm-digits", digits(), ["none", "standard"])


def svm_cancer():
    svm("svm-cancer", cancer(), ["none", "standard", "range"])


TREES = [5, 10, 20, 40, 80, 160]


def boosting(name, data, make, parts, measures):
    """Errors by the number of trees come from the stages of one model."""
    parameters = [
        number("rate", logs(0.01, 1, 6), log=True),
        number("depth", [1, 2, 4], log=True, whole=True),
        number("rows", [0.5, 1.0]),
        number("inputs", [0.2, 0.6, 1.0]),
        number("leaf", [1, 6, 36], log=True, whole=True),
        number("trees", TREES, log=True, whole=True),
    ]
    values = {m: [] for m in measures}

    def stages(rate, depth, rows, inputs, leaf):
        sums = {m: np.zeros(len(TREES)) for m in measures}
        for a, ya, b, yb in parts:
            model = make(learning_rate=rate, max_depth=depth, subsample=rows, max_features=inputs, min_samples_leaf=leaf, n_estimators=TREES[-1], random_state=SEED)
            model.fit(a, ya)
            staged = getattr(model, "staged_predict_proba", None) or model.staged_predict
            found = [f for i, f in enumerate(staged(b), 1) if i in TREES]
            for m, measure in measures.items():
                sums[m] += [measure(yb, f) for f in found]
        for m in measures:
            values[m] += [float(f"{v / len(parts):.5g}") for v in sums[m]]

    over(parameters[:-1], stages)
    write(name, data, parameters, values)


def share_wrong(y, p):
    return float((p.argmax(1) != y).mean())


def boosting_cancer():
    measures = {"loss": log_loss, "wrong": share_wrong}
    boosting("boosting-cancer", "GradientBoostingClassifier on breast cancer, 3-fold cross-validation", GradientBoostingClassifier, folds(*cancer()), measures)


def regression(folder):
    rows = np.loadtxt(DATA / folder / "data.csv", delimiter=",", skiprows=1)
    x, y = rows[:, :-1], rows[:, -1]
    splits = KFold(FOLDS, shuffle=True, random_state=SEED).split(x)
    return [(x[a], y[a], x[b], y[b]) for a, b in splits]


def rmse(y, f):
    return float(np.sqrt(np.mean((y - f) ** 2)))


def boosting_concrete():
    boosting("boosting-concrete", "GradientBoostingRegressor on concrete strength, 3-fold cross-validation", GradientBoostingRegressor, regression("concrete"), {"rmse": rmse})


def mlp_digits():
    epochs = [1, 2, 4, 8, 16, 32]
    x, y = load_digits(return_X_y=True)
    x = x / 16
    parameters = [
        choice("activation", "relu", "tanh"),
        choice("solver", "adam", "sgd"),
        number("width", [8, 16, 32, 64], log=True, whole=True),
        number("batch", [32, 128, 512], log=True, whole=True),
        number("decay", logs(1e-4, 1, 3), log=True),
        number("rate", logs(1e-4, 0.1, 6), log=True),
        number("epochs", epochs, log=True, whole=True),
    ]
    values = {"loss": [], "wrong": []}

    def stages(activation, solver, width, batch, decay, rate):
        model = MLPClassifier((width,), activation=activation, solver=solver, batch_size=batch, alpha=decay, learning_rate_init=rate, momentum=0.9, random_state=SEED)
        for epoch in range(1, epochs[-1] + 1):
            model.partial_fit(x[:1000], y[:1000], classes=np.arange(10))
            if epoch in epochs:
                p = model.predict_proba(x[1000:])
                loss = log_loss(y[1000:], np.clip(p, 1e-12, 1), labels=np.arange(10))
                values["loss"].append(float(f"{loss:.5g}"))
                values["wrong"].append(float(f"{share_wrong(y[1000:], p):.5g}"))

    over(parameters[:-1], stages)
    write("mlp-digits", "MLPClassifier on digits, 1000 for training and 797 for the error", parameters, values)


def classifiers(name, data):
    """A table for each of three classifiers."""
    parts = list(scaled(folds(*data), "range"))
    source = "wrong labels of {} in 3-fold cross-validation"
    parameters = [number("C", logs(1e-2, 1e4, 10), log=True), number("gamma", logs(1e-4, 10, 11), log=True)]
    write(f"{name}-svm", source.format("SVC"), parameters, {"wrong": over(parameters, lambda c, g: wrong(SVC(C=c, gamma=g, max_iter=20000), parts))})
    parameters = [
        number("neighbours", [1, 2, 4, 8, 16, 32, 64], log=True, whole=True),
        choice("weights", "uniform", "distance"),
        number("norm", [1.0, 1.5, 2.0, 4.0]),
    ]
    write(f"{name}-neighbours", source.format("KNeighborsClassifier"), parameters, {
        "wrong": over(parameters, lambda k, w, p: wrong(KNeighborsClassifier(k, weights=w, p=p), parts)),
    })
    parameters = [
        number("trees", [4, 8, 16, 32, 64], log=True, whole=True),
        number("depth", [1, 2, 4, 8, 16], log=True, whole=True),
        number("inputs", [0.05, 0.15, 0.4, 1.0], log=True),
        number("leaf", [1, 4, 16], log=True, whole=True),
    ]
    write(f"{name}-forest", source.format("RandomForestClassifier"), parameters, {
        "wrong": over(parameters, lambda n, d, f, leaf: wrong(
            RandomForestClassifier(n, max_depth=d, max_features=f, min_samples_leaf=leaf, random_state=SEED), parts)),
    })


def classifiers_digits():
    classifiers("classifiers-digits", digits())


def classifiers_cancer():
    classifiers("classifiers-cancer", cancer())


def kernel_yacht():
    parts = list(scaled(regression("yacht"), "standard"))
    parameters = [
        choice("kernel", "rbf", "laplacian", "poly"),
        choice("target", "raw", "log"),
        number("degree", [2, 3, 4, 5], whole=True),
        number("gamma", logs(1e-3, 10, 13), log=True),
        number("alpha", logs(1e-6, 10, 15), log=True),
    ]
    known = {}

    def error(kernel, target, degree, gamma, alpha):
        used = kernel, target, degree if kernel == "poly" else 3, gamma, alpha
        if used not in known:
            total = 0.0
            for a, ya, b, yb in parts:
                model = KernelRidge(kernel=kernel, degree=used[2], gamma=gamma, alpha=alpha)
                shift = ya.mean() if target == "raw" else np.log(ya).mean()
                model.fit(a, (ya if target == "raw" else np.log(ya)) - shift)
                f = model.predict(b) + shift
                total += rmse(yb, f if target == "raw" else np.exp(np.minimum(f, 20)))
            known[used] = float(f"{total / FOLDS:.5g}")
        return known[used]

    write("kernel-yacht", "KernelRidge on yacht resistance, 3-fold cross-validation", parameters, {"rmse": over(parameters, error)})


def materials():
    """Averages over repeats of the tables of PV-Lab (MIT licence, see NOTICE)."""
    for name, file, sign in (("nanoparticles", "agnp", 1), ("barrels", "crossed_barrel", -1)):
        path = DATA / "pvlab_materials" / f"{file}.csv"
        names = path.read_text().splitlines()[0].split(",")[:-1]
        rows = np.loadtxt(path, delimiter=",", skiprows=1)
        inputs, place = np.unique(rows[:, :-1], axis=0, return_inverse=True)
        values = [sign * rows[place == i, -1].mean() for i in range(len(inputs))]
        rows = [[*map(float, x), float(f"{v:.8g}")] for x, v in zip(inputs, values)]
        source = f"{file} of github PV-Lab/Benchmarking, averaged over repeats" + (", negative" if sign < 0 else "")
        table = {"source": source, "names": names, "rows": rows}
        (HERE / f"{name}.json").write_text(json.dumps(table, separators=(",", ":")) + "\n")
        print(name, len(rows), flush=True)


TABLES = {
    "materials": materials,
    "kernel-yacht": kernel_yacht,
    "classifiers-cancer": classifiers_cancer,
    "classifiers-digits": classifiers_digits,
    "svm-cancer": svm_cancer,
    "mlp-digits": mlp_digits,
    "boosting-cancer": boosting_cancer,
    "boosting-concrete": boosting_concrete,
    "svm-digits": svm_digits,
}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="*", metavar="TABLE", help="tables, default all: " + ", ".join(TABLES))
    parser.add_argument("--data", type=Path, default=Path("data"), help="folders of the regression data")
    args = parser.parse_args()
    DATA = args.data
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    for table in args.tables or TABLES:
        TABLES[table]()
