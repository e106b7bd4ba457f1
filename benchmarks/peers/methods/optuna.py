import optuna

from . import parameters

optuna.logging.set_verbosity(optuna.logging.WARNING)


def distribution(p):
    """Returns the distribution of a coordinate; ordinals are integers."""
    if p.kind == "categorical":
        return optuna.distributions.CategoricalDistribution(p.values)
    if p.kind == "float":
        return optuna.distributions.FloatDistribution(p.lo, p.hi, log=p.log)
    return optuna.distributions.IntDistribution(int(p.lo), int(p.hi), log=p.log)


class Study:
    packages = ["optuna"]

    def __init__(self, task, sampler):
        self.study = optuna.create_study(sampler=sampler)
        self.box = {f"x{i}": distribution(p) for i, p in enumerate(parameters(task))}
        self.open = None

    def tell(self, points, values):
        if self.open:
            self.study.tell(self.open, values[0])
            return
        for point, value in zip(points, values):
            params = {name: d.to_external_repr(v) for (name, d), v in zip(self.box.items(), point)}
            self.study.add_trial(optuna.create_trial(params=params, distributions=self.box, value=value))

    def ask(self):
        self.open = self.study.ask(self.box)
        return [self.open.params[name] for name in self.box]


class GP(Study):
    """GPSampler with defaults; noise-free objectives are declared deterministic."""

    packages = ["optuna", "torch"]

    def __init__(self, task, threads):
        import torch

        torch.set_num_threads(threads)
        super().__init__(task, optuna.samplers.GPSampler(seed=task["seed"], deterministic_objective=task["noise_free"]))


class TPE(Study):
    """TPESampler with defaults."""

    def __init__(self, task, threads):
        super().__init__(task, optuna.samplers.TPESampler(seed=task["seed"]))
