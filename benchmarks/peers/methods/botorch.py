import torch
from botorch.acquisition import LogExpectedImprovement, qLogNoisyExpectedImprovement
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from botorch.models.transforms import Normalize, Standardize
from botorch.optim import optimize_acqf
from gpytorch.mlls import ExactMarginalLogLikelihood


class LogEI:
    """The loop of BoTorch's documentation: SingleTaskGP with LogEI, or qLogNEI under noise."""

    packages = ["botorch", "gpytorch", "torch"]

    def __init__(self, task, threads):
        torch.set_num_threads(threads)
        torch.manual_seed(task["seed"])
        self.noise_free = task["noise_free"]
        self.bounds = torch.tensor([task["lo"], task["hi"]], dtype=torch.double)
        self.x = torch.empty(0, task["dim"], dtype=torch.double)
        self.y = torch.empty(0, 1, dtype=torch.double)

    def tell(self, points, values):
        self.x = torch.cat([self.x, torch.tensor(points, dtype=torch.double)])
        self.y = torch.cat([self.y, -torch.tensor(values, dtype=torch.double)[:, None]])

    def ask(self):
        dim = self.x.shape[1]
        model = SingleTaskGP(
            self.x,
            self.y,
            input_transform=Normalize(dim, bounds=self.bounds),
            outcome_transform=Standardize(1),
        )
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        if self.noise_free:
            acquisition = LogExpectedImprovement(model, best_f=self.y.max())
        else:
            acquisition = qLogNoisyExpectedImprovement(model, self.x)
        point, _ = optimize_acqf(acquisition, bounds=self.bounds, q=1, num_restarts=10, raw_samples=512)
        return point[0].tolist()
