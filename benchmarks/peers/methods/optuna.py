import optuna

optuna.logging.set_verbosity(optuna.logging.WARNING)


class Study:
    packages = ["optuna"]

    def __init__(self, task, sampler):
        self.study = optuna.create_study(sampler=sampler)
        self.box = {
            f"x{i}": optuna.distributions.FloatDistribution(lo, hi) for i, (lo, hi) in enumerate(zip(task["lo"], task["hi"]))
        }
        self.open = None

    def tell(self, points, values):
        if self.open:
            self.study.tell(self.open, values[0])
            return
        for point, value in zip(points, values):
            params = dict(zip(self.box, point))
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
