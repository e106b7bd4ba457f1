"""qEI and qLogEI of BoTorch for given joint means, covariances and base samples,
with gradients with respect to the mean, and EI/LogEI in closed form. BoTorch
maximises. Writes batch.json beside itself."""
import json
import os
import sys

import botorch
import gpytorch
import numpy as np
import torch
from botorch.acquisition import qExpectedImprovement, qLogExpectedImprovement
from botorch.acquisition.analytic import ExpectedImprovement, LogExpectedImprovement
from botorch.models.model import Model
from botorch.posteriors import GPyTorchPosterior
from botorch.sampling import IIDNormalSampler
from gpytorch.distributions import MultivariateNormal

torch.set_default_dtype(torch.float64)


class Given(Model):
    """A model with one posterior, whatever it is asked."""

    def __init__(self, mean, cov):
        super().__init__()
        self.mean, self.cov = mean, cov

    num_outputs = 1
    batch_shape = torch.Size([])

    def posterior(self, X, *args, **kwargs):
        n = X.shape[-2]
        return GPyTorchPosterior(MultivariateNormal(self.mean[:n].expand(*X.shape[:-2], n), self.cov[:n, :n].expand(*X.shape[:-2], n, n)))


def value(cls, mean, cov, z, best):
    m = torch.tensor(mean, requires_grad=True)
    sampler = IIDNormalSampler(torch.Size([len(z)]), seed=0)
    model = Given(m, torch.tensor(cov))
    X = torch.zeros(1, len(mean), 1)
    sampler.register_buffer("base_samples", torch.tensor(z).unsqueeze(1))
    v = cls(model=model, best_f=best, sampler=sampler)(X)
    assert np.array_equal(sampler.base_samples.squeeze(1).numpy(), z)
    v.sum().backward()
    return v.item(), m.grad.tolist()


rng = np.random.default_rng(7)
cases = []
for q, best, scale in [(1, 0.3, 1.0), (2, 0.5, 1.0), (4, 0.2, 0.3), (4, 3.0, 0.2), (3, 8.0, 0.05), (8, 1.0, 1.0), (4, -2.0, 0.5)]:
    a = rng.standard_normal((q, q + 2)) * scale
    cov = a @ a.T / q
    mean = 0.4 * rng.standard_normal(q)
    z = rng.standard_normal((32, q))
    r = 12
    mean, cov, z = mean.round(r), cov.round(r), z.round(6)
    qei, dqei = value(qExpectedImprovement, mean, cov, z, best)
    qlogei, dqlogei = value(qLogExpectedImprovement, mean, cov, z, best)
    case = {"mean": mean.tolist(), "cov": cov.tolist(), "base": z.tolist(), "best": best, "qei": qei, "dqei": dqei, "qlogei": qlogei, "dqlogei": dqlogei}
    one = Given(torch.tensor(mean), torch.tensor(cov))
    case["ei"] = ExpectedImprovement(one, best_f=best)(torch.zeros(1, 1, 1)).item()
    case["logei"] = LogExpectedImprovement(one, best_f=best)(torch.zeros(1, 1, 1)).item()
    cases.append(case)

here = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(here, "batch.json"), "w") as f:
    json.dump({"versions": {"python": sys.version.split()[0], "torch": torch.__version__, "gpytorch": gpytorch.__version__, "botorch": botorch.__version__}, "cases": cases}, f)
    f.write("\n")
