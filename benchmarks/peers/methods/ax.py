import logging

import torch
from ax.api.client import Client
from ax.api.configs import ChoiceParameterConfig, RangeParameterConfig

from . import parameters

for name in [name for name in logging.root.manager.loggerDict if name.split(".")[0] == "ax"]:
    logging.getLogger(name).setLevel(logging.ERROR)


def entry(name, p):
    """Returns the configuration of a coordinate; ordinals are integers."""
    if p.kind == "categorical":
        return ChoiceParameterConfig(name=name, parameter_type="int", values=p.values, is_ordered=False)
    scaling = "log" if p.log else "linear"
    kind = "float" if p.kind == "float" else "int"
    lo, hi = (p.lo, p.hi) if kind == "float" else (int(p.lo), int(p.hi))
    return RangeParameterConfig(name=name, parameter_type=kind, bounds=(lo, hi), scaling=scaling)


class Ax:
    """Client with defaults; the given points replace the initial design."""

    packages = ["ax-platform", "botorch", "torch"]

    def __init__(self, task, threads):
        torch.set_num_threads(threads)
        self.names = [f"x{i}" for i in range(task["dim"])]
        self.parameters = parameters(task)
        self.client = Client(random_seed=task["seed"])
        self.client.configure_experiment(
            [entry(name, p) for name, p in zip(self.names, self.parameters)]
        )
        self.client.configure_optimization(objective="-value")
        self.client.configure_generation_strategy(
            initialization_budget=task["initial"], initialize_with_center=False
        )
        self.open = None

    def tell(self, points, values):
        for point, value in zip(points, values):
            trial = self.open
            if trial is None:
                point = [v if p.kind == "float" else int(v) for v, p in zip(point, self.parameters)]
                trial = self.client.attach_trial(dict(zip(self.names, point)))
            self.client.complete_trial(trial, {"value": value})

    def ask(self):
        ((self.open, parameters),) = self.client.get_next_trials(1).items()
        return [parameters[name] for name in self.names]
