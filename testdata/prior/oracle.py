"""Oracle numbers for package prior: python oracle.py > oracle.json

Kernels: scikit-learn and GPyTorch where they have the kernel in the same form, and
for every kernel a restatement in mpmath (50 digits) of the formula in its doc
comment; the JSON has the mpmath numbers, the script asserts that the libraries agree.
Log marginal likelihoods and their gradients with respect to the logs of the
hyperparameters (the noise variance last): mpmath with central differences of 1e-12
at 50 digits, asserted against scikit-learn's gradients and autograd through GPyTorch.
"""

import json
import math

import botorch
import gpytorch
import mpmath as mp
import numpy as np
import scipy
import sklearn
import torch
from botorch.models.kernels.infinite_width_bnn import InfiniteWidthBNNKernel
from scipy import stats
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process import kernels as sk

mp.mp.dps = 50
torch.set_default_dtype(torch.float64)

rng = np.random.default_rng(20261120)
D = 2
X = np.round(rng.uniform(size=(7, D)), 4)
Y = np.round(rng.uniform(size=(3, D)), 4)
T = np.round(np.sin(5 * X[:, 0]) + X[:, 1] ** 2, 4)
NOISE = 0.03
MEAN = 0.2

L = [0.35, 0.8]


def sq(a, b, ls):
    return sum(((x - y) / l) ** 2 for x, y, l in zip(a, b, ls))


def rbf(a, b, l0, l1):
    return mp.exp(-sq(a, b, (l0, l1)) / 2)


def matern(nu):
    def k(a, b, l0, l1):
        s = sq(a, b, (l0, l1))
        if s == 0:
            return mp.mpf(1)
        z = mp.sqrt(2 * nu * s)
        return mp.mpf(2) ** (1 - nu) / mp.gamma(nu) * z**nu * mp.besselk(nu, z)

    return k


def rq(a, b, l0, l1, alpha):
    return (1 + sq(a, b, (l0, l1)) / (2 * alpha)) ** (-alpha)


def periodic(a, b, l0, l1, p0, p1):
    s = sum((mp.sin(mp.pi * (x - y) / p) / l) ** 2 for x, y, l, p in zip(a, b, (l0, l1), (p0, p1)))
    return mp.exp(-2 * s)


def linear(a, b, l0, l1, offset):
    return offset + a[0] * b[0] / l0**2 + a[1] * b[1] / l1**2


def polynomial(a, b, l0, l1, offset):
    return linear(a, b, l0, l1, offset) ** 3


def arccos(depth):
    def k(a, b, w, bias):
        def inner(u, v):
            return bias + w * (u[0] * v[0] + u[1] * v[1]) / D

        kab, kaa, kbb = inner(a, b), inner(a, a), inner(b, b)
        for _ in range(depth):
            q = mp.sqrt(kaa * kbb)
            c = min(kab / q, mp.mpf(1))
            t = mp.acos(c)
            kab = bias + w / (2 * mp.pi) * q * (mp.sin(t) + (mp.pi - t) * c)
            kaa, kbb = bias + w * kaa / 2, bias + w * kbb / 2
        return kab

    return k


def white(a, b):
    return mp.mpf(1) if a is b else mp.mpf(0)


def scaled(k):
    return lambda a, b, v, *theta: v * k(a, b, *theta)


def composite(a, b, v, rl0, rl1, pl0, pl1, pp0, pp1, ll0, ll1, off):
    """rbf*periodic + linear"""
    return v * rbf(a, b, rl0, rl1) * periodic(a, b, pl0, pl1, pp0, pp1) + linear(a, b, ll0, ll1, off)


def with_white(a, b, v, l0, l1, wv):
    """matern52 + white"""
    return v * matern(mp.mpf(5) / 2)(a, b, l0, l1) + wv * white(a, b)


KERNELS = {
    "rbf": (scaled(rbf), [1.3] + L),
    "matern12": (scaled(matern(mp.mpf(1) / 2)), [1.3] + L),
    "matern32": (scaled(matern(mp.mpf(3) / 2)), [1.3] + L),
    "matern52": (scaled(matern(mp.mpf(5) / 2)), [1.3] + L),
    "rq": (scaled(rq), [1.3] + L + [0.7]),
    "periodic": (scaled(periodic), [1.3] + L + [0.6, 1.1]),
    "linear": (linear, L + [0.4]),
    "polynomial(degree=3)": (polynomial, [0.9, 1.4, 0.4]),
    "arccos(depth=1)": (arccos(1), [2.5, 0.6]),
    "arccos(depth=3)": (arccos(3), [2.5, 0.6]),
    "constant": (lambda a, b, v: v, [1.3]),
    "white": (scaled(white), [1.3]),
    "rbf*periodic+linear": (composite, [1.3] + L + [0.9, 1.2, 0.6, 1.1, 2.0, 1.5, 0.4]),
    "matern52+white": (with_white, [1.3] + L + [0.2]),
}


def mpf_rows(a):
    return [tuple(mp.mpf(float(v)) for v in row) for row in a]


def log_marginal(k, theta, rows, target, noise, mean):
    n = len(rows)
    a = mp.matrix(n, n)
    for i in range(n):
        for j in range(n):
            a[i, j] = k(rows[i], rows[j], *theta) + (noise if i == j else 0)
    r = mp.matrix([mp.mpf(float(t)) - mean for t in target])
    chol = mp.cholesky(a)
    alpha = mp.cholesky_solve(a, r)
    logdet = 2 * sum(mp.log(chol[i, i]) for i in range(n))
    return -(sum(r[i] * alpha[i] for i in range(n)) + logdet + n * mp.log(2 * mp.pi)) / 2


def log_gradient(f, theta):
    """Central differences in log θ; with h = 1e-12 at 50 digits the error is ~1e-24."""
    h, out = mp.mpf(10) ** -12, []
    for i in range(len(theta)):
        up, down = list(theta), list(theta)
        up[i], down[i] = up[i] * mp.exp(h), down[i] * mp.exp(-h)
        out.append((f(up) - f(down)) / (2 * h))
    return out


# The same kernels from scikit-learn and GPyTorch, built from θ (a list of floats or
# of torch tensors); None where a library has no such kernel.
def sk_kernel(name, th):
    c = sk.ConstantKernel(th[0])
    return {
        "rbf": lambda: c * sk.RBF(th[1:3]),
        "matern12": lambda: c * sk.Matern(th[1:3], nu=0.5),
        "matern32": lambda: c * sk.Matern(th[1:3], nu=1.5),
        "matern52": lambda: c * sk.Matern(th[1:3], nu=2.5),
        "constant": lambda: c,
        "white": lambda: c * sk.WhiteKernel(1.0),
        "matern52+white": lambda: c * sk.Matern(th[1:3], nu=2.5) + sk.WhiteKernel(th[3]),
    }.get(name, lambda: None)()


def gp_kernel(name, th):
    t = [v if torch.is_tensor(v) else torch.tensor(v) for v in th]
    K = gpytorch.kernels

    def dense(k, a, b):
        return k(a, b).to_dense()

    x = lambda v: torch.tensor(v) if not torch.is_tensor(v) else v

    def scaled_inputs(cls, **kw):
        """An isotropic GPyTorch kernel of lengthscale 1 on x/ℓ: differentiable in ℓ."""
        def f(a, b, v, ls):
            k = cls(**kw)
            k.lengthscale = 1.0
            ls = torch.stack(list(ls))
            return v * dense(k, x(a) / ls, x(b) / ls)
        return f

    if name == "rbf":
        return lambda a, b: scaled_inputs(K.RBFKernel)(a, b, t[0], t[1:3])
    if name.startswith("matern") and "+" not in name:
        nu = {"12": 0.5, "32": 1.5, "52": 2.5}[name[6:]]
        return lambda a, b: scaled_inputs(K.MaternKernel, nu=nu)(a, b, t[0], t[1:3])
    if name == "arccos(depth=1)" or name == "arccos(depth=3)":
        def f(a, b):
            k = InfiniteWidthBNNKernel(depth=int(name[-2]), acos_eps=0.0)
            k.weight_var, k.bias_var = float(t[0]), float(t[1])
            return dense(k, x(a), x(b))
        return f
    if name == "rq":
        def f(a, b):
            k = K.RQKernel()
            k.lengthscale, k.alpha = 1.0, float(t[3])
            ls = torch.stack(t[1:3])
            return t[0] * dense(k, x(a) / ls, x(b) / ls)
        return f
    if name == "periodic":
        def f(a, b):
            # GPyTorch divides sin² by its lengthscale, not by the square.
            k = K.PeriodicKernel(ard_num_dims=2)
            k.lengthscale = torch.stack(t[1:3]).detach() ** 2
            k.period_length = torch.stack(t[3:5]).detach()
            return t[0] * dense(k, x(a), x(b))
        return f
    if name == "polynomial(degree=3)":
        def f(a, b):
            k = K.PolynomialKernel(power=3)
            k.offset = float(t[2])
            ls = torch.stack(t[0:2])
            return dense(k, x(a) / ls, x(b) / ls)
        return f
    if name == "linear":
        def f(a, b):
            k = K.LinearKernel()
            k.variance = 1.0
            ls = torch.stack(t[0:2])
            return dense(k, x(a) / ls, x(b) / ls) + t[2]
        return f
    return None


def torch_gradient(name, theta):
    """Log marginal likelihood and its gradient by autograd through GPyTorch's kernel;
    only for kernels whose every θ stays a tensor above."""
    if name not in ("rbf", "matern12", "matern32", "matern52", "linear"):
        return None
    logs = torch.tensor(theta).log().requires_grad_()
    th = list(logs.exp())
    a = gp_kernel(name, th)(X, X) + NOISE * torch.eye(len(X))
    y = torch.tensor(T)
    value = torch.distributions.MultivariateNormal(torch.full_like(y, MEAN), a).log_prob(y)
    (g,) = torch.autograd.grad(value, logs)
    return float(value), g.tolist()


def close(name, what, got, want, tol):
    worst = float(np.max(np.abs(np.asarray(got) - np.asarray(want))))
    assert worst < tol, (name, what, worst)
    return worst


cases = []
rows, others = mpf_rows(X), mpf_rows(Y)
for name, (k, theta) in KERNELS.items():
    th = [mp.mpf(v) for v in theta]
    gram = [[float(k(a, b, *th)) for b in rows] for a in rows]
    cross = [[float(k(a, b, *th)) for b in others] for a in rows]
    f = lambda full: log_marginal(k, full[:-1], rows, T, full[-1], mp.mpf(MEAN))
    value = float(f(th + [mp.mpf(NOISE)]))
    grad = [float(g) for g in log_gradient(f, th + [mp.mpf(NOISE)])]
    agrees = {}  # library: largest difference of a kernel value
    if (s := sk_kernel(name, theta)) is not None:
        agrees["scikit-learn"] = close(name, "scikit-learn", s(X), gram, 1e-12)
        gp = GaussianProcessRegressor(s, alpha=NOISE, optimizer=None).fit(X, T - MEAN)
        sv, sg = gp.log_marginal_likelihood(gp.kernel_.theta, eval_gradient=True)
        assert abs(sv - value) < 1e-9, name
        if name != "white":  # there scikit-learn has two parameters for one product
            close(name, "scikit-learn gradient", sg, grad[:-1], 1e-9)
    if (g := gp_kernel(name, theta)) is not None:
        # PyTorch distances go through a clamp of 1e-15 inside a square root.
        agrees["gpytorch"] = close(name, "gpytorch", g(X, X).detach().numpy(), gram, 1e-6)
    if (r := torch_gradient(name, theta)) is not None:
        assert abs(r[0] - value) < 1e-6, (name, r[0], value)
        close(name, "gpytorch gradient", r[1], grad[:-1], 1e-5)
    cases.append(dict(kernel=name, theta=theta, gram=gram, cross=cross, log_marginal=value, gradient=grad, agrees=agrees))

# Hyperprior log densities at a few points, by SciPy.
densities = []
for theta in (1e-3, 0.3, 1.0, 7.5):
    densities.append(dict(theta=theta, lognormal=[-4, 1, float(stats.lognorm(s=1, scale=math.exp(-4)).logpdf(theta))],
                          gamma=[2.5, 0.7, float(stats.gamma(2.5, scale=1 / 0.7).logpdf(theta))]))

print(json.dumps(dict(
    made_by="oracle.py",
    versions=dict(mpmath=mp.__version__, numpy=np.__version__, scipy=scipy.__version__, sklearn=sklearn.__version__,
                  torch=torch.__version__, gpytorch=gpytorch.__version__, botorch=botorch.__version__),
    x=X.tolist(), y=Y.tolist(), target=T.tolist(), noise=NOISE, mean=MEAN, cases=cases, densities=densities,
), indent=0))
