import numpy
import pandas
import torch
from hebo.design_space.design_space import DesignSpace
from hebo.optimizers.hebo import HEBO

from . import parameters


def entry(name, p):
    """Returns the description of a coordinate; ordinals are integers."""
    if p.kind == "categorical":
        return {"name": name, "type": "cat", "categories": p.values}
    kind = {("float", False): "num", ("float", True): "pow", ("int", True): "pow_int"}.get((p.kind, p.log), "int")
    return {"name": name, "type": kind, "lb": p.lo, "ub": p.hi}


class MACE:
    """HEBO with defaults; the given points replace the initial design."""

    packages = ["HEBO", "gpytorch", "pymoo", "torch"]

    def __init__(self, task, threads):
        torch.set_num_threads(threads)
        torch.manual_seed(task["seed"])
        numpy.random.seed(task["seed"])
        self.names = [f"x{i:02}" for i in range(task["dim"])]
        space = DesignSpace().parse([entry(n, p) for n, p in zip(self.names, parameters(task))])
        self.optimizer = HEBO(space, rand_sample=task["initial"], scramble_seed=task["seed"])

    def tell(self, points, values):
        self.optimizer.observe(pandas.DataFrame(points, columns=self.names), numpy.array(values)[:, None])

    def ask(self):
        return self.optimizer.suggest(1)[self.names].iloc[0].tolist()
