import math

import torch
from botorch.fit import fit_gpytorch_mll
from botorch.generation import MaxPosteriorSampling
from botorch.models import SingleTaskGP
from botorch.models.transforms import Standardize
from gpytorch.constraints import Interval
from gpytorch.kernels import MaternKernel, ScaleKernel
from gpytorch.likelihoods import GaussianLikelihood
from gpytorch.mlls import ExactMarginalLogLikelihood
from torch.quasirandom import SobolEngine

from . import continuous

# Constants of Eriksson et al. (2019), "Scalable global optimization via local Bayesian optimization".
FIRST, SHORTEST, LONGEST = 0.8, 0.5**7, 1.6
SUCCESSES = 3


class TuRBO:
    """TuRBO-1 with Thompson sampling. The given points are its first design; a restart has as many Sobol points."""

    packages = ["botorch", "gpytorch", "torch"]

    def __init__(self, task, threads):
        continuous(task)
        torch.set_num_threads(threads)
        torch.manual_seed(task["seed"])
        self.dim, self.noise_free = task["dim"], task["noise_free"]
        self.lo = torch.tensor(task["lo"], dtype=torch.double)
        self.width = torch.tensor(task["hi"], dtype=torch.double) - self.lo
        self.initial = task["initial"]
        self.failures = math.ceil(max(4, self.dim))
        self.sobol = SobolEngine(self.dim, scramble=True, seed=task["seed"])
        self.restart()

    def restart(self):
        self.x = torch.empty(0, self.dim, dtype=torch.double)
        self.y = torch.empty(0, 1, dtype=torch.double)
        self.length, self.won, self.lost, self.design = FIRST, 0, 0, []

    def tell(self, points, values):
        x = (torch.tensor(points, dtype=torch.double) - self.lo) / self.width
        y = -torch.tensor(values, dtype=torch.double)[:, None]
        if len(self.y) >= self.initial:
            self.judge(y.max())
        if self.length < SHORTEST:
            self.restart()
            self.design = list(self.sobol.draw(self.initial).to(torch.double))
        else:
            self.x, self.y = torch.cat([self.x, x]), torch.cat([self.y, y])

    def judge(self, value):
        """Changes the length of the trust region after successes and failures in a row."""
        best = self.y.max()
        if value > best + 1e-3 * best.abs():
            self.won, self.lost = self.won + 1, 0
        else:
            self.won, self.lost = 0, self.lost + 1
        if self.won == SUCCESSES:
            self.length, self.won = min(2 * self.length, LONGEST), 0
        elif self.lost == self.failures:
            self.length, self.lost = self.length / 2, 0

    def ask(self):
        u = self.design.pop() if self.design else self.sample(self.model())
        return (self.lo + self.width * u).tolist()

    def model(self):
        noise = Interval(1e-8, 1e-3) if self.noise_free else Interval(1e-8, 1.0)
        likelihood = GaussianLikelihood(noise_constraint=noise)
        kernel = ScaleKernel(MaternKernel(nu=2.5, ard_num_dims=self.dim, lengthscale_constraint=Interval(0.005, 4.0)))
        model = SingleTaskGP(self.x, self.y, covar_module=kernel, likelihood=likelihood, outcome_transform=Standardize(1))
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        return model

    def sample(self, model):
        """Returns the best of random candidates in the trust region for a draw of the posterior."""
        centre = self.x[self.y.argmax()]
        weights = model.covar_module.base_kernel.lengthscale.squeeze(0).detach()
        weights = weights / weights.log().mean().exp()
        low = (centre - weights * self.length / 2).clamp(0, 1)
        high = (centre + weights * self.length / 2).clamp(0, 1)
        n = min(5000, max(2000, 200 * self.dim))
        candidates = low + (high - low) * self.sobol.draw(n).to(torch.double)
        changed = torch.rand(n, self.dim) <= min(20 / self.dim, 1)
        changed[~changed.any(dim=1), torch.randint(self.dim, (1,))] = True
        candidates = torch.where(changed, candidates, centre)
        with torch.no_grad():
            return MaxPosteriorSampling(model=model, replacement=False)(candidates, num_samples=1)[0]
