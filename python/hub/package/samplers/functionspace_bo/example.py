from __future__ import annotations

import sys

import optuna
import optunahub


def objective(trial: optuna.Trial) -> float:
    x = trial.suggest_float("x", -5, 5)
    if trial.suggest_categorical("model", ["plain", "shifted"]) == "plain":
        return x**2 + 1
    shift = trial.suggest_int("shift", 0, 4)
    return (x - shift) ** 2


# An argument is the folder "package" of a local registry; the default is OptunaHub.
name = "samplers/functionspace_bo"
if len(sys.argv) > 1:
    module = optunahub.load_local_module(package=name, registry_root=sys.argv[1])
else:
    module = optunahub.load_module(package=name)

study = optuna.create_study(sampler=module.FunctionSpaceSampler(seed=1))
study.optimize(objective, n_trials=30)
print(study.best_value, study.best_params)
