import tempfile

from ConfigSpace import Configuration, ConfigurationSpace, Float
from smac import BlackBoxFacade, Scenario
from smac.runhistory.dataclasses import TrialInfo, TrialValue


class BlackBox:
    """BlackBoxFacade with defaults; noise-free objectives are declared deterministic.

    Under noise it evaluates the best points up to three times.
    """

    packages = ["smac", "ConfigSpace", "scikit-learn"]

    def __init__(self, task, threads):
        self.directory = tempfile.TemporaryDirectory()
        self.names = [f"x{i:02}" for i in range(task["dim"])]
        self.space = ConfigurationSpace(seed=task["seed"])
        self.space.add(
            [Float(name, (lo, hi)) for name, lo, hi in zip(self.names, task["lo"], task["hi"])]
        )
        scenario = Scenario(
            self.space,
            deterministic=task["noise_free"],
            n_trials=task["budget"],
            seed=task["seed"],
            output_directory=self.directory.name,
        )
        self.initial = [self.configuration(point) for point in task["points"]]
        self.smac = BlackBoxFacade(
            scenario,
            self.unused,
            initial_design=BlackBoxFacade.get_initial_design(
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
        return Configuration(self.space, values=dict(zip(self.names, point)))

    def tell(self, points, values):
        if self.open is None:
            trials = [TrialInfo(config, seed=0) for config in self.initial]
        else:
            trials = [self.open]
        for trial, value in zip(trials, values):
            self.smac.tell(trial, TrialValue(cost=value))

    def ask(self):
        self.open = self.smac.ask()
        return [self.open.config[name] for name in self.names]
