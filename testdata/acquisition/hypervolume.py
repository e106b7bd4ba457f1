"""Expected hypervolume improvement of BoTorch in closed form, for independent normal
objectives, and its gradient with respect to means and variances. BoTorch maximises.
Writes hypervolume.json beside itself."""
import json
import os
import sys

import botorch
import numpy as np
import torch
from botorch.acquisition.multi_objective.analytic import ExpectedHypervolumeImprovement
from botorch.models.model import Model
from botorch.posteriors import GPyTorchPosterior
from botorch.utils.multi_objective.box_decompositions.non_dominated import FastNondominatedPartitioning
from gpytorch.distributions import MultitaskMultivariateNormal

torch.set_default_dtype(torch.float64)


class Given(Model):
    """A model with one posterior, whatever it is asked."""

    def __init__(self, mean, variance):
        super().__init__()
        self.mean, self.variance = mean, variance

    num_outputs = 2
    batch_shape = torch.Size([])

    def posterior(self, X, *args, **kwargs):
        return GPyTorchPosterior(MultitaskMultivariateNormal(self.mean.view(1, 1, -1), torch.diag(self.variance).unsqueeze(0)))


rng = np.random.default_rng(5)
cases = []
for m in (2, 3, 4):
    for n, shift, scale in [(1, 0.0, 0.3), (6, 0.2, 0.3), (10, -0.1, 0.1), (10, 0.5, 0.1)]:
        y = rng.random((n, m)).round(6)
        ref = np.full(m, 1.1)
        mean = torch.tensor((0.4 + shift + 0.1 * rng.standard_normal(m)).round(6), requires_grad=True)
        variance = torch.tensor((scale * (0.5 + rng.random(m))).round(6) ** 2, requires_grad=True)
        boxes = FastNondominatedPartitioning(ref_point=torch.tensor(-ref), Y=-torch.tensor(y))
        acq = ExpectedHypervolumeImprovement(model=Given(-mean, variance), ref_point=(-ref).tolist(), partitioning=boxes)
        v = acq(torch.zeros(1, 1, 1)).log()
        v.sum().backward()
        cases.append({"y": y.tolist(), "reference": ref.tolist(), "mean": mean.tolist(), "variance": variance.tolist(), "value": v.item(), "dmean": mean.grad.tolist(), "dvariance": variance.grad.tolist()})
out = {"versions": {"python": sys.version.split()[0], "torch": torch.__version__, "botorch": botorch.__version__}, "cases": cases}
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "hypervolume.json"), "w") as f:
    json.dump(out, f)
    f.write("\n")
