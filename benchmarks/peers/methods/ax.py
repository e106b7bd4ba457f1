import logging

import torch
from ax.api.client import Client
from ax.api.configs import RangeParameterConfig

for name in [name for name in logging.root.manager.loggerDict if name.split(".")[0] == "ax"]:
    logging.getLogger(name).setLevel(logging.ERROR)


class Ax:
    """Client with defaults; the given points replace the initial design."""

    packages = ["ax-platform", "botorch", "torch"]

    def __init__(self, task, threads):
        torch.set_num_threads(threads)
        self.names = [f"x{i}" for i in range(task["dim"])]
        self.client = Client(random_seed=task["seed"])
        self.client.configure_experiment(
            [
                RangeParameterConfig(name=name, parameter_type="float", bounds=(lo, hi))
                for name, lo, hi in zip(self.names, task["lo"], task["hi"])
            ]
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
                trial = self.client.attach_trial(dict(zip(self.names, point)))
            self.client.complete_trial(trial, {"value": value})

    def ask(self):
        ((self.open, parameters),) = self.client.get_next_trials(1).items()
        return [parameters[name] for name in self.names]
