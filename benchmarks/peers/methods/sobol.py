from scipy.stats import qmc

from . import continuous


class Sobol:
    """Search by a scrambled Sobol sequence. Values are not used."""

    packages = ["scipy"]

    def __init__(self, task, threads):
        continuous(task)
        self.task = task
        self.sequence = qmc.Sobol(task["dim"], rng=task["seed"])
        self.sequence.fast_forward(1)

    def tell(self, points, values):
        pass

    def ask(self):
        return qmc.scale(self.sequence.random(1), self.task["lo"], self.task["hi"])[0].tolist()
