import math

import torch
from botorch.acquisition import LogExpectedImprovement, qLogNoisyExpectedImprovement
from botorch.acquisition.multi_objective.logei import qLogNoisyExpectedHypervolumeImprovement
from botorch.acquisition.multi_objective.objective import IdentityMCMultiOutputObjective
from botorch.fit import fit_gpytorch_mll
from botorch.models import MixedSingleTaskGP, ModelListGP, SingleTaskGP
from botorch.models.transforms import Normalize, Standardize
from botorch.optim import optimize_acqf
from botorch.optim.optimize_mixed import optimize_acqf_mixed_alternating
from botorch.sampling import SobolQMCNormalSampler
from gpytorch.mlls import ExactMarginalLogLikelihood, SumMarginalLogLikelihood

from . import continuous, parameters


class LogEI:
    """The loop of BoTorch's documentation: SingleTaskGP with LogEI, or qLogNEI under noise."""

    packages = ["botorch", "gpytorch", "torch"]

    def __init__(self, task, threads):
        torch.set_num_threads(threads)
        torch.manual_seed(task["seed"])
        self.noise_free = task["noise_free"]
        self.codes = [Code(p) for p in parameters(task)]
        self.bounds = torch.tensor([[c.lo for c in self.codes], [c.hi for c in self.codes]], dtype=torch.double)
        self.x = torch.empty(0, task["dim"], dtype=torch.double)
        self.y = torch.empty(0, 1, dtype=torch.double)

    def tell(self, points, values):
        points = [[code.encode(v) for code, v in zip(self.codes, point)] for point in points]
        self.x = torch.cat([self.x, torch.tensor(points, dtype=torch.double)])
        self.y = torch.cat([self.y, -torch.tensor(values, dtype=torch.double)[:, None]])

    def ask(self):
        point = self.maximise(self.acquisition())
        return [code.decode(v) for code, v in zip(self.codes, point[0].tolist())]

    def model(self):
        """MixedSingleTaskGP if there are categories."""
        dim = self.x.shape[1]
        categories = [i for i, code in enumerate(self.codes) if code.kind == "categorical"]
        others = [i for i in range(dim) if i not in categories]
        transforms = {
            "input_transform": Normalize(dim, indices=others if categories else None, bounds=self.bounds),
            "outcome_transform": Standardize(1),
        }
        if categories:
            return MixedSingleTaskGP(self.x, self.y, categories, **transforms)
        return SingleTaskGP(self.x, self.y, **transforms)

    def acquisition(self):
        model = self.model()
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        if self.noise_free:
            return LogExpectedImprovement(model, best_f=self.y.max())
        return qLogNoisyExpectedImprovement(model, self.x)

    def maximise(self, acquisition):
        """Uses alternating search if some parameters are discrete."""
        options = {"bounds": self.bounds, "q": 1, "num_restarts": 10, "raw_samples": 512}
        discrete = {i: code.values for i, code in enumerate(self.codes) if code.kind in ("int", "ordinal")}
        categories = {i: code.values for i, code in enumerate(self.codes) if code.kind == "categorical"}
        if not discrete and not categories:
            return optimize_acqf(acquisition, **options)[0]
        return optimize_acqf_mixed_alternating(acquisition, discrete_dims=discrete, cat_dims=categories, **options)[0]


class LogNEHVI:
    """The loop of BoTorch's tutorials with several objectives: a SingleTaskGP for each number, and qLogNEHVI."""

    packages = ["botorch", "gpytorch", "torch"]
    several = True

    def __init__(self, task, threads):
        continuous(task)
        torch.set_num_threads(threads)
        torch.manual_seed(task["seed"])
        self.reference = -torch.tensor(task["reference"], dtype=torch.double)
        self.limits = task.get("bounds", [])
        self.bounds = torch.tensor([task["lo"], task["hi"]], dtype=torch.double)
        self.x = torch.empty(0, task["dim"], dtype=torch.double)
        self.y = torch.empty(0, len(self.reference) + len(self.limits), dtype=torch.double)

    def tell(self, points, values):
        """Negates the objectives, and subtracts the bounds from the other numbers."""
        m = len(self.reference)
        values = [[-v for v in row[:m]] + [v - b for v, b in zip(row[m:], self.limits)] for row in values]
        self.x = torch.cat([self.x, torch.tensor(points, dtype=torch.double)])
        self.y = torch.cat([self.y, torch.tensor(values, dtype=torch.double)])

    def ask(self):
        point, _ = optimize_acqf(self.acquisition(), self.bounds, q=1, num_restarts=10, raw_samples=512)
        return point[0].tolist()

    def model(self):
        dim = self.x.shape[1]
        model = ModelListGP(*[
            SingleTaskGP(
                self.x,
                y[:, None],
                input_transform=Normalize(dim, bounds=self.bounds),
                outcome_transform=Standardize(1),
            )
            for y in self.y.T
        ])
        fit_gpytorch_mll(SumMarginalLogLikelihood(model.likelihood, model))
        return model

    def acquisition(self):
        m = len(self.reference)
        return qLogNoisyExpectedHypervolumeImprovement(
            self.model(),
            self.reference,
            self.x,
            sampler=SobolQMCNormalSampler(torch.Size([128])),
            objective=IdentityMCMultiOutputObjective(outcomes=list(range(m))),
            constraints=[lambda z, i=i: z[..., i] for i in range(m, self.y.shape[1])] or None,
            prune_baseline=True,
        )


class Code:
    """The scale on which the model has a parameter: logarithms if the parameter has a logarithmic scale."""

    def __init__(self, parameter):
        self.kind, self.log = parameter.kind, parameter.log
        self.lo, self.hi = self.encode(parameter.lo), self.encode(parameter.hi)
        self.values = None if self.kind == "float" else [self.encode(v) for v in parameter.values]

    def encode(self, value):
        return math.log(value) if self.log else float(value)

    def decode(self, value):
        value = math.exp(value) if self.log else value
        return value if self.kind == "float" else round(value)
