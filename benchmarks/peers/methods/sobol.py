from scipy.stats import qmc

from . import parameters


class Sobol:
    """Search by a scrambled Sobol sequence. Values are not used."""

    packages = ["scipy"]

    def __init__(self, task, threads):
        self.parameters = parameters(task)
        self.sequence = qmc.Sobol(task["dim"], rng=task["seed"])
        self.sequence.fast_forward(1)

    def tell(self, points, values):
        pass

    def ask(self):
        unit = self.sequence.random(1)[0].tolist()
        return [p.lo + u * (p.hi - p.lo) if p.kind == "float" else p.values[int(u * len(p.values))]
                for u, p in zip(unit, self.parameters)]
