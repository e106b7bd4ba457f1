import numpy
import pandas
import torch
from hebo.design_space.design_space import DesignSpace
from hebo.optimizers.hebo import HEBO


class MACE:
    """HEBO with defaults; the given points replace the initial design."""

    packages = ["HEBO", "gpytorch", "pymoo", "torch"]

    def __init__(self, task, threads):
        torch.set_num_threads(threads)
        torch.manual_seed(task["seed"])
        numpy.random.seed(task["seed"])
        self.names = [f"x{i:02}" for i in range(task["dim"])]
        box = zip(self.names, task["lo"], task["hi"])
        space = DesignSpace().parse([{"name": n, "type": "num", "lb": lo, "ub": hi} for n, lo, hi in box])
        self.optimizer = HEBO(space, rand_sample=task["initial"], scramble_seed=task["seed"])

    def tell(self, points, values):
        self.optimizer.observe(pandas.DataFrame(points, columns=self.names), numpy.array(values)[:, None])

    def ask(self):
        return self.optimizer.suggest(1)[self.names].iloc[0].tolist()
