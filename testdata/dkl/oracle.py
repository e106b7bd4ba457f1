"""Gaussian processes on the features of a fixed network, from GPyTorch.

    python oracle.py > oracle.json

"weights" is the network's vector: for each hidden layer the weights (inputs by
outputs, row by row) and the biases, then V. The box is [0, 1]^d. Gradients of
minus the log marginal likelihood are computed by automatic differentiation.
"""
import json
import warnings

warnings.simplefilter("ignore")
import gpytorch  # noqa: E402
import torch  # noqa: E402

torch.set_default_dtype(torch.float64)
torch.manual_seed(20261120)
LENGTHSCALE, VARIANCE, NOISE = 0.6, 1.3, 0.02


class Process(gpytorch.models.ExactGP):
    def __init__(self, x, y, likelihood, features):
        super().__init__(x, y, likelihood)
        self.features = features
        self.mean = gpytorch.means.ZeroMean()
        self.kernel = gpytorch.kernels.ScaleKernel(gpytorch.kernels.MaternKernel(nu=2.5))
        self.kernel.outputscale = VARIANCE
        self.kernel.base_kernel.lengthscale = LENGTHSCALE

    def forward(self, x):
        g = self.features(x)
        return gpytorch.distributions.MultivariateNormal(self.mean(g), self.kernel(g))


def case(features):
    n, d, hidden = 9, 2, [5, 3]
    x, at = torch.rand(n, d), torch.rand(4, d)
    y = torch.sin(4 * x[:, 0]) + x[:, 1] ** 2
    q = features or d
    weights, shape = [], [d] + hidden
    for a, b in zip(shape, shape[1:]):
        weights += [torch.randn(a, b) * 0.7, torch.randn(b) * 0.5]
    weights.append(torch.randn(hidden[-1], q) * 0.8)
    for w in weights:
        w.requires_grad_()

    def network(x):
        a = (x - 0.5) * 2 * 3 ** 0.5
        for w, b in zip(weights[0:-1:2], weights[1:-1:2]):
            a = torch.tanh(a @ w + b)
        a = a @ weights[-1]
        return a if features else x + a / (2 * 3 ** 0.5) / 2

    likelihood = gpytorch.likelihoods.GaussianLikelihood()
    likelihood.noise = NOISE
    model = Process(x, y, likelihood, network)
    model.train(), likelihood.train()
    loss = -gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)(model(x), y) * n
    loss.backward()
    model.eval(), likelihood.eval()
    post = model(at)
    return {
        "features": features, "hidden": hidden, "x": x.tolist(), "y": y.tolist(), "at": at.tolist(),
        "weights": torch.cat([w.detach().flatten() for w in weights]).tolist(),
        "loss": loss.item(), "gradient": torch.cat([w.grad.flatten() for w in weights]).tolist(),
        "mean": post.mean.tolist(), "variance": post.variance.tolist(),
    }


with gpytorch.settings.fast_computations(False, False, False), gpytorch.settings.cholesky_jitter(0, 0, 0):
    print(json.dumps({
        "versions": {"gpytorch": gpytorch.__version__, "torch": torch.__version__},
        "lengthscale": LENGTHSCALE, "variance": VARIANCE, "noise": NOISE,
        "cases": [case(0), case(3)],
    }))
