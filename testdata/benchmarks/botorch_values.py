"""Writes botorch.json: BoTorch's test functions at random points of their boxes.

Values are of the function to be minimised (Cosine8 is negated: BoTorch maximises it).
"""

import json

import botorch
import torch
from botorch.test_functions import synthetic as s

torch.manual_seed(20261120)
torch.set_default_dtype(torch.float64)
FUNCTIONS = {
    "branin": s.Branin(),
    "hartmann3": s.Hartmann(dim=3),
    "hartmann6": s.Hartmann(dim=6),
    "ackley4": s.Ackley(dim=4),
    "rosenbrock4": s.Rosenbrock(dim=4),
    "levy4": s.Levy(dim=4),
    "levy1": s.Levy(dim=1),
    "styblinski-tang3": s.StyblinskiTang(dim=3),
    "rastrigin5": s.Rastrigin(dim=5),
    "six-hump-camel": s.SixHumpCamel(),
    "michalewicz10": s.Michalewicz(dim=10),
    "griewank6": s.Griewank(dim=6),
    "shekel": s.Shekel(m=10),
    "beale": s.Beale(),
    "cosine8": s.Cosine8(),
}
out = {"botorch": botorch.__version__, "torch": torch.__version__, "functions": {}}
for name, f in FUNCTIONS.items():
    lo, hi = f.bounds
    x = lo + (hi - lo) * torch.rand(20, f.dim)
    sign = -1 if name == "cosine8" else 1
    out["functions"][name] = {
        "lo": lo.tolist(),
        "hi": hi.tolist(),
        "x": x.tolist(),
        "f": (sign * f.evaluate_true(x)).tolist(),
        "minimum": sign * f.optimal_value if f.optimal_value is not None else None,
    }
json.dump(out, open("botorch.json", "w"))
for name, v in out["functions"].items():
    print(name, v["lo"], v["hi"], v["minimum"])
