"""Hypervolumes and Pareto fronts of pymoo and BoTorch for random points, some of
them with equal coordinates. BoTorch maximises. Writes hypervolume.json beside itself."""
import json
import os
import sys

import botorch
import numpy as np
import pymoo
import torch
from botorch.utils.multi_objective.box_decompositions.dominated import DominatedPartitioning
from botorch.utils.multi_objective.pareto import is_non_dominated
from pymoo.indicators.hv import HV

torch.set_default_dtype(torch.float64)

rng = np.random.default_rng(3)
cases = []
for m in (2, 3, 4, 5):
    for n in (1, 5, 20):
        for grid in (0, 6):
            y = rng.random((n, m))
            y = np.round(y * grid) / grid if grid else y.round(12)
            ref = np.full(m, 0.9)
            t = torch.tensor(y)
            case = {
                "y": y.tolist(),
                "reference": ref.tolist(),
                "front": np.flatnonzero(is_non_dominated(-t, deduplicate=False).numpy()).tolist(),
                "botorch": DominatedPartitioning(ref_point=torch.tensor(-ref), Y=-t).compute_hypervolume().item(),
                "pymoo": float(HV(ref_point=ref)(y)),
            }
            cases.append(case)
out = {"source": f"botorch {botorch.__version__}, torch {torch.__version__.split('+')[0]}, numpy {np.__version__}, pymoo {pymoo.__version__}", "cases": cases}
with open(os.path.join(os.path.dirname(os.path.abspath(sys.argv[0])), "hypervolume.json"), "w") as f:
    json.dump(out, f)
    f.write("\n")
