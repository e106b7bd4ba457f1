import tempfile

from ConfigSpace import Categorical, Configuration, ConfigurationSpace, EqualsCondition, Float, Integer
from smac import BlackBoxFacade, HyperparameterOptimizationFacade, Scenario
from smac.runhistory.dataclasses import TrialInfo, TrialValue

from . import parameters


def entry(name, p):
    """Returns the hyperparameter of a coordinate; ordinals are integers."""
    if p.kind == "categorical":
        return Categorical(name, p.values)
    if p.kind == "float":
        return Float(name, (p.lo, p.hi), log=p.log)
    return Integer(name, (int(p.lo), int(p.hi)), log=p.log)


class BlackBox:
    """BlackBoxFacade with defaults; noise-free objectives are declared deterministic.

    Under noise it evaluates the best points up to three times.
    """

    packages = ["smac", "ConfigSpace", "scikit-learn"]
    facade = BlackBoxFacade

    def __init__(self, task, threads):
        self.directory = tempfile.TemporaryDirectory()
        self.names = [f"x{i:02}" for i in range(task["dim"])]
        self.space = ConfigurationSpace(seed=task["seed"])
        self.parameters = parameters(task)
        entries = [entry(name, p) for name, p in zip(self.names, self.parameters)]
        self.space.add(entries)
        for child, p in zip(entries, self.parameters):
            if p.when:
                parent, value = p.when
                self.space.add(EqualsCondition(child, entries[parent], value))
        scenario = Scenario(
            self.space,
            deterministic=task["noise_free"],
            n_trials=task["budget"],
            seed=task["seed"],
            output_directory=self.directory.name,
        )
        self.initial = [self.configuration(point) for point in task["points"]]
        self.smac = self.facade(
            scenario,
            self.unused,
            initial_design=self.facade.get_initial_design(
                scenario, n_configs=0, additional_configs=self.initial
            ),
            logging_level=False,
        )
        self.open = None

    @staticmethod
    def unused(config, seed=0):
        """The facade requires a function; tell passes the values instead."""
        raise NotImplementedError

    def configuration(self, point):
        values = {
            name: v if p.kind == "float" else int(v)
            for name, v, p in zip(self.names, point, self.parameters)
            if v is not None
        }
        return Configuration(self.space, values=values)

    def tell(self, points, values):
        if self.open is None:
            trials = [TrialInfo(config, seed=0) for config in self.initial]
        else:
            trials = [self.open]
        for trial, value in zip(trials, values):
            self.smac.tell(trial, TrialValue(cost=value))

    def ask(self):
        self.open = self.smac.ask()
        values = dict(self.open.config)
        return [values.get(name) for name in self.names]


class Tuning(BlackBox):
    """HyperparameterOptimizationFacade with defaults, a random forest: SMAC's facade for conditional parameters."""

    facade = HyperparameterOptimizationFacade
