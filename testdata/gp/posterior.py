"""Exact GP posteriors with fixed hyperparameters from scikit-learn.

    python posterior.py > posterior.json

Leave-one-out moments come from n refits without the point (latent, without
noise). "kernel" is the expression that prior.Parse reads.
"""
import json
import sys
import warnings

import numpy as np
import scipy
import sklearn
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import (
    ConstantKernel, Matern, RationalQuadratic, RBF)

warnings.simplefilter("error")
rng = np.random.default_rng(20261120)


def lists(a):
    return np.asarray(a).tolist()


def text(values):
    return "[" + ",".join(repr(v) for v in values) + "]"


def case(expression, kernel, mean, noise, n, d, m):
    x, at = rng.uniform(size=(n, d)), rng.uniform(-0.2, 1.2, size=(m, d))
    y = np.sin(4 * x[:, 0]) + x.sum(axis=1) ** 2 / d + 0.1 * rng.normal(size=n)

    def fit(x, y):
        return GaussianProcessRegressor(kernel, alpha=noise, optimizer=None).fit(x, y - mean)

    gp = fit(x, y)
    mu, cov = gp.predict(at, return_cov=True)
    _, sd = gp.predict(at, return_std=True)
    loo = []
    for i in range(n):
        keep = np.arange(n) != i
        loo.append(fit(x[keep], y[keep]).predict(x[i:i + 1], return_std=True))
    return {
        "kernel": expression, "mean": mean, "noise": noise,
        "x": lists(x), "y": lists(y), "at": lists(at),
        "posterior_mean": lists(mu + mean), "posterior_sd": lists(sd), "posterior_cov": lists(cov),
        "log_marginal": float(gp.log_marginal_likelihood_value_),
        "loo_mean": [float(m[0] + mean) for m, _ in loo], "loo_sd": [float(s[0]) for _, s in loo],
    }


l2, l5 = [0.3, 0.6], [0.5, 0.8, 1.1, 1.4, 1.7]
cases = [
    case("1.7*rbf(lengthscale=%s)" % text(l2), ConstantKernel(1.7) * RBF(l2), 0.3, 0.01, 12, 2, 6),
    case("0.8*matern12(lengthscale=%s)" % text(l5), ConstantKernel(0.8) * Matern(l5, nu=0.5), 0.0, 0.05, 20, 5, 6),
    case("2.5*matern32(lengthscale=%s)" % text(l2), ConstantKernel(2.5) * Matern(l2, nu=1.5), -1.0, 1e-4, 15, 2, 6),
    case("1.2*matern52(lengthscale=%s)" % text(l5), ConstantKernel(1.2) * Matern(l5, nu=2.5), 0.5, 1e-3, 25, 5, 6),
    case("3.0*rq(lengthscale=0.4,alpha=1.5)", ConstantKernel(3.0) * RationalQuadratic(0.4, 1.5), 0.0, 0.02, 10, 1, 5),
    case("1.0*rbf(lengthscale=0.7)+0.5*matern52(lengthscale=0.2)",
         RBF(0.7) + ConstantKernel(0.5) * Matern(0.2, nu=2.5), 0.1, 0.01, 12, 1, 5),
]
json.dump({
    "versions": {"scikit-learn": sklearn.__version__, "numpy": np.__version__, "scipy": scipy.__version__},
    "cases": cases,
}, sys.stdout)
