# Makes optuna.db.gz and optuna.log.gz, the files of Optuna that the tests read.
# Run with optuna 5.0.0, sqlalchemy 2.1.9, numpy 2.4.6 on Python 3.11.
import gzip
import os
import shutil

import optuna
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend

optuna.logging.set_verbosity(optuna.logging.ERROR)
for name in ["optuna.db", "optuna.log"]:
    if os.path.exists(name):
        os.remove(name)


def full(trial):
    lr = trial.suggest_float("lr", 1e-5, 0.1, log=True)
    dropout = trial.suggest_float("dropout", 0.0, 0.5)
    momentum = trial.suggest_float("momentum", 0.1, 0.9, step=0.1)
    layers = trial.suggest_int("layers", 1, 8)
    width = trial.suggest_int("width", 16, 256, step=16)
    batch = trial.suggest_int("batch", 1, 1024, log=True)
    opt = trial.suggest_categorical("opt", ["adam", "sgd", None, True, 3, 0.5])
    trial.suggest_categorical("data", ["mnist"])
    trial.set_user_attr("seconds", layers * 0.5)
    trial.set_user_attr("host", "a")
    value = (dropout - 0.2) ** 2 + (momentum - 0.6) ** 2 + abs(lr - 1e-3) + layers / 100 + width / 1e4 + batch / 1e5
    value += 0.1 * (opt != "adam")
    for step in range(3):
        trial.report(value * (3 - step), step)
    if trial.number % 17 == 5:
        trial.report(float("nan"), 3)
        raise ValueError("diverged")
    if trial.number % 13 == 7:
        raise optuna.TrialPruned()
    return float("inf") if trial.number == 40 else value


def conditional(trial):
    opt = trial.suggest_categorical("opt", ["adam", "sgd"])
    if opt == "sgd":
        trial.suggest_float("momentum", 0.0, 0.99)
    x = trial.suggest_float("x", -1.0, 1.0 + trial.number)
    return x * x


def two(trial):
    x = trial.suggest_float("x", 0, 1)
    return x, 1 - x


def make(storage, name, objective, n, **options):
    study = optuna.create_study(storage=storage, study_name=name, sampler=optuna.samplers.TPESampler(seed=1), **options)
    study.optimize(objective, n_trials=n, catch=(ValueError,))
    return study


database = "sqlite:///optuna.db"
make(database, "full", full, 200, direction="minimize").set_metric_names(["loss"])
make(database, "my conditional", conditional, 12, direction="maximize")
make(database, "two", two, 3, directions=["minimize", "minimize"])

journal = JournalStorage(JournalFileBackend("optuna.log"))
study = make(journal, "full", full, 40, direction="minimize")
study.enqueue_trial({"lr": 0.01})
study.ask()
study.enqueue_trial({"lr": 0.02})
make(journal, "deleted", two, 1, directions=["minimize", "minimize"])
optuna.delete_study(study_name="deleted", storage=journal)

for name in ["optuna.db", "optuna.log"]:
    with open(name, "rb") as f, open(name + ".gz", "wb") as g:
        with gzip.GzipFile(fileobj=g, mode="wb", mtime=0, filename="") as z:
            shutil.copyfileobj(f, z)
    os.remove(name)
