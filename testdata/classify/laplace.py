"""Laplace approximations of Gaussian-process classifiers with fixed
hyperparameters, and the logistic-normal integral.

    python laplace.py > laplace.json

"binary" is scikit-learn's: evidence with its gradient in the logarithms of the
kernel's numbers, latent moments, and its own probabilities, which replace the
logistic function by five error functions. "multiclass" is a dense NumPy
implementation: Newton's method on all latents at once, determinants and solves of
the whole matrix; probabilities are Gauss-Hermite quadrature over the latents of a
point. "logistic_normal" is by mpmath. "kernel" is what prior.Parse reads.
"""
import itertools
import json
import sys
import warnings

import mpmath as mp
import numpy as np
import scipy
import sklearn
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, RBF

warnings.simplefilter("error")
rng = np.random.default_rng(20261120)


def lists(a):
    return np.asarray(a).tolist()


def text(values):
    return "[" + ",".join(repr(v) for v in values) + "]"


def data(n, d, m, classes):
    x, at = rng.uniform(size=(n, d)), rng.uniform(-0.3, 1.3, size=(m, d))
    score = np.sin(5 * x[:, 0]) + (x ** 2).sum(axis=1) / d + 0.3 * rng.normal(size=n)
    y = np.searchsorted(np.quantile(score, np.arange(1, classes) / classes), score)
    return x, y, at


def binary(expression, kernel, n, d, m):
    x, y, at = data(n, d, m, 2)
    gp = GaussianProcessClassifier(kernel, optimizer=None).fit(x, y)
    base = gp.base_estimator_
    mean, var = base.latent_mean_and_variance(at)
    value, grad = base.log_marginal_likelihood(kernel.theta, eval_gradient=True, clone_kernel=True)
    return {
        "kernel": expression, "x": lists(x), "y": lists(y), "at": lists(at), "evidence": float(value),
        "gradient": lists(grad), "mean": lists(mean), "variance": lists(var), "probability": lists(gp.predict_proba(at)[:, 1]),
    }


def softmax(f):
    e = np.exp(f - f.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def multiclass(expression, kernel, means, n, d, m):
    means = np.array(means)
    c = len(means)
    x, y, at = data(n, d, m, c)
    eye = np.eye(c)
    k = np.kron(eye, kernel(x))  # latent-major
    mu = np.repeat(means, n)
    onehot = eye[y].T.reshape(-1)
    inverse = np.linalg.inv(k)
    f = mu.copy()
    for _ in range(100):
        p = softmax(f.reshape(c, n).T).T.reshape(-1)
        w = np.diag(p)
        for a, b in itertools.product(range(c), repeat=2):
            w[a * n:(a + 1) * n, b * n:(b + 1) * n] -= np.diag(p[a * n:(a + 1) * n] * p[b * n:(b + 1) * n])
        step = np.linalg.solve(inverse + w, onehot - p - inverse @ (f - mu))
        f = f + step
        if abs(step).max() < 1e-13:
            break
    rows = f.reshape(c, n).T
    logp = sum(rows[i, y[i]] - np.log(np.exp(rows[i]).sum()) for i in range(n))
    quadratic = (f - mu) @ inverse @ (f - mu)
    evidence = logp - quadratic / 2 - np.linalg.slogdet(np.eye(n * c) + k @ w)[1] / 2
    gain = w @ np.linalg.inv(np.eye(n * c) + k @ w)
    mean, cov, prob = [], [], []
    z, weight = np.polynomial.hermite_e.hermegauss(40)
    weight = weight / weight.sum()
    grid = np.array(list(itertools.product(z, repeat=c)))
    weights = np.array([np.prod(q) for q in itertools.product(weight, repeat=c)])
    for point in at:
        q = np.kron(eye, kernel(x, point[None]))
        mt = means + q.T @ (onehot - p)
        ct = eye * kernel(point[None])[0, 0] - q.T @ gain @ q
        mean.append(lists(mt))
        cov.append(lists(ct))
        prob.append(lists(weights @ softmax(mt + grid @ np.linalg.cholesky(ct).T)))
    return {
        "kernel": expression, "means": lists(means), "x": lists(x), "y": lists(y), "at": lists(at),
        "evidence": float(evidence), "mean": mean, "cov": cov, "probability": prob,
    }


def logistic_normal():
    mp.mp.dps = 30

    def integral(m, v):
        s = mp.sqrt(v)
        f = lambda z: mp.npdf(z) / (1 + mp.exp(-m - s * z))
        edges = sorted({-40, 40, -10, 10, -m / s, -m / s - 3 / s, -m / s + 3 / s, 0, s})
        return mp.quad(f, [e for e in edges if abs(e) <= 40])

    rows = []
    for m, v in itertools.product([-60, -9, -2.5, -0.3, 0, 1, 7, 30], [1e-8, 0.04, 0.9, 1.1, 3, 25, 400]):
        m, v = mp.mpf(m), mp.mpf(v)
        rows.append([float(m), float(v), float(integral(m, v))])
    return rows


l2 = [0.3, 0.6]
json.dump({
    "versions": {"scikit-learn": sklearn.__version__, "numpy": np.__version__, "scipy": scipy.__version__, "mpmath": mp.__version__},
    "binary": [
        binary("1.7*rbf(lengthscale=%s)" % text(l2), ConstantKernel(1.7) * RBF(l2), 20, 2, 6),
        binary("9.0*matern52(lengthscale=0.8)", ConstantKernel(9.0) * Matern(0.8, nu=2.5), 30, 3, 6),
        binary("400.0*rbf(lengthscale=0.4)", ConstantKernel(400.0) * RBF(0.4), 25, 1, 6),
    ],
    "multiclass": [
        multiclass("2.5*matern32(lengthscale=%s)" % text(l2), ConstantKernel(2.5) * Matern(l2, nu=1.5), [0.0, 0.0, 0.0], 15, 2, 5),
        multiclass("30.0*matern12(lengthscale=0.7)", ConstantKernel(30.0) * Matern(0.7, nu=0.5), [0.4, -0.3, 0.2], 24, 2, 5),
    ],
    "logistic_normal": logistic_normal(),
}, sys.stdout)
