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
    """A study of one objective, or of several with constraints."""

    packages = ["optuna"]
    several = True

    def __init__(self, task, sampler):
        self.objectives, self.bounds = len(task.get("reference", [])), task.get("bounds", [])
        directions = {"directions": ["minimize"] * self.objectives} if self.objectives else {}
        self.study = optuna.create_study(sampler=sampler, **directions)
        self.parameters = parameters(task)
        self.box = {f"x{i}": distribution(p) for i, p in enumerate(self.parameters)}
        self.conditional = any(p.when for p in self.parameters)
        self.open = None

    def tell(self, points, values):
        if not self.objectives and not self.open:
            for point, value in zip(points, values):
                params = self.params(point)
                box = {name: self.box[name] for name in params}
                self.study.add_trial(optuna.create_trial(params=params, distributions=box, value=value))
            return
        # Several objectives: the sampler passes each given point through ask, so that NSGA-II counts it.
        for point, value in zip(points, values):
            if not self.open:
                self.study.enqueue_trial(self.params(point))
            trial = self.open or self.study.ask(self.box)
            for i, bound in enumerate(self.bounds):
                trial.set_constraint(f"c{i}", value[self.objectives + i] - bound)
            self.study.tell(trial, value[: self.objectives] if self.objectives else value)
            self.open = None

    def params(self, point):
        return {name: d.to_external_repr(v) for (name, d), v in zip(self.box.items(), point) if v is not None}

    def ask(self):
        if self.conditional:
            self.open = self.study.ask()
            return self.suggest()
        self.open = self.study.ask(self.box)
        return [self.open.params[name] for name in self.box]

    def suggest(self):
        """Suggests the active parameters one after another, as in an objective of Optuna."""
        point = []
        for (name, d), p in zip(self.box.items(), self.parameters):
            if not p.active(point):
                point.append(None)
            elif p.kind == "categorical":
                point.append(self.open.suggest_categorical(name, d.choices))
            else:
                suggest = self.open.suggest_float if p.kind == "float" else self.open.suggest_int
                point.append(suggest(name, d.low, d.high, log=d.log))
        return point


def startup(task):
    """Returns the option that lets the search begin after the given points. With one objective it has its default."""
    return {"n_startup_trials": task["initial"]} if "reference" in task else {}


class GP(Study):
    """GPSampler with defaults; noise-free objectives are declared deterministic."""

    packages = ["optuna", "torch"]

    def __init__(self, task, threads):
        import torch

        torch.set_num_threads(threads)
        sampler = optuna.samplers.GPSampler(
            seed=task["seed"], deterministic_objective=task["noise_free"], **startup(task)
        )
        super().__init__(task, sampler)


class TPE(Study):
    """TPESampler with defaults."""

    def __init__(self, task, threads):
        super().__init__(task, optuna.samplers.TPESampler(seed=task["seed"], **startup(task)))


class GroupTPE(Study):
    """TPESampler with group=True, which has a joint model for each set of parameters that occur together."""

    def __init__(self, task, threads):
        super().__init__(task, optuna.samplers.TPESampler(seed=task["seed"], multivariate=True, group=True))


class NSGAII(Study):
    """NSGAIISampler with a population of 10. Of the default population, 50, all members are random."""

    def __init__(self, task, threads):
        super().__init__(task, optuna.samplers.NSGAIISampler(seed=task["seed"], population_size=10))


class FunctionSpace(Study):
    """FunctionSpaceSampler with defaults, the sampler of bo for Optuna."""

    packages = ["optuna", "functionspace-bo"]

    def __init__(self, task, threads):
        from functionspace_bo.optuna import FunctionSpaceSampler

        sampler = FunctionSpaceSampler(
            seed=task["seed"], deterministic_objective=task["noise_free"], **startup(task)
        )
        super().__init__(task, sampler)
