"""Exact Gaussian processes of exact data, a noise variance of 1e-8, from mpmath.

    python exact.py > exact.json

Inputs are pairs 1e-9 apart and points of the unit cube; every number is the exact
value at the doubles of the file. "theta" are the kernel's hyperparameters and the
noise in the order of package prior, "gradient" is the log marginal likelihood's in
their logarithms, "dmean" and "dvariance" are gradients at the rows of "at".
Derivatives are central differences with 120 digits.
"""
import json
import random
import sys

import mpmath
from mpmath import mp, mpf, matrix

mp.dps = 120
NOISE = 1e-8
STEP = mpf(10) ** -30
rng = random.Random(20261122)


def distance(x, y, scales):
    return sum(((a - b) / l) ** 2 for a, b, l in zip(x, y, scales))


def matern52(x, y, scales):
    a = mp.sqrt(5 * distance(x, y, scales))
    return (1 + a + a * a / 3) * mp.exp(-a)


def rbf(x, y, scales):
    return mp.exp(-distance(x, y, scales) / 2)


def rq(x, y, theta):
    alpha = theta[-1]
    return (1 + distance(x, y, theta[:-1]) / (2 * alpha)) ** -alpha


def periodic(x, y, theta):
    d = len(theta) // 2
    return mp.exp(-2 * sum((mp.sin(mp.pi * (a - b) / p) / l) ** 2
                           for a, b, l, p in zip(x, y, theta[:d], theta[d:])))


def gram(kernel, theta, a, b):
    return matrix([[kernel(theta, x, y) for y in b] for x in a])


def factor(kernel, theta, x):
    a = gram(kernel, theta[:-1], x, x)
    for i in range(len(x)):
        a[i, i] += theta[-1]
    return mp.cholesky(a)


def forward(l, b):
    out = []
    for i in range(l.rows):
        out.append((b[i] - sum(l[i, j] * out[j] for j in range(i))) / l[i, i])
    return out


def dot(a, b):
    return sum(u * v for u, v in zip(a, b))


def log_marginal(kernel, theta, x, y):
    l = factor(kernel, theta, x)
    z = forward(l, y)
    return -dot(z, z) / 2 - sum(mp.log(l[i, i]) for i in range(len(x))) - len(x) * mp.log(2 * mp.pi) / 2


def case(expression, kernel, theta, d, n=24, m=8):
    x = [[rng.random() for _ in range(d)] for _ in range(n - 3)]
    x += [[v + 1e-9 * rng.gauss(0, 1) for v in row] for row in x[:3]]
    y = [float(sum(mp.sin(4 * v + j) for j, v in enumerate(row))) for row in x]
    # Four points anywhere, and points from 1e-2 to 1e-5 off an observation.
    at = [[rng.random() for _ in range(d)] for _ in range(m - 4)]
    at += [[v + 10.0 ** -(k + 2) * rng.gauss(0, 1) for v in x[k]] for k in range(4)]
    exact = lambda rows: [[mpf(v) for v in row] for row in rows]
    X, Y, T = exact(x), [mpf(v) for v in y], [mpf(v) for v in theta] + [mpf(NOISE)]
    l = factor(kernel, T, X)
    z = forward(l, Y)

    def moments(p):
        w = forward(l, [kernel(T[:-1], row, p) for row in X])
        return dot(w, z), kernel(T[:-1], p, p) - dot(w, w)

    out = {"kernel": expression, "theta": [float(t) for t in T], "x": x, "y": y, "at": at,
           "mean": [], "variance": [], "dmean": [], "dvariance": [], "gradient": []}
    for p in exact(at):
        mean, variance = moments(p)
        out["mean"].append(float(mean))
        out["variance"].append(float(variance))
        slopes = []
        for j in range(d):
            up, down = list(p), list(p)
            up[j] += STEP
            down[j] -= STEP
            slopes.append([(u - v) / (2 * STEP) for u, v in zip(moments(up), moments(down))])
        out["dmean"].append([float(s[0]) for s in slopes])
        out["dvariance"].append([float(s[1]) for s in slopes])
    out["log_marginal"] = float(log_marginal(kernel, T, X, Y))
    for i in range(len(T)):
        up, down = list(T), list(T)
        up[i] *= mp.exp(STEP)
        down[i] *= mp.exp(-STEP)
        out["gradient"].append(float((log_marginal(kernel, up, X, Y) - log_marginal(kernel, down, X, Y)) / (2 * STEP)))
    return out


def scaled(k):
    return lambda t, x, y: t[0] * k(x, y, t[1:])


def both(t, x, y):
    return t[0] * rbf(x, y, t[1:3]) + t[3] * matern52(x, y, t[4:6])


cases = [
    case("variance*matern52", scaled(matern52), [12.0, 0.9], 1),
    case("variance*matern52", scaled(matern52), [9.0, 1.5, 2.5, 1.1, 3.0, 0.8, 30.0], 6),
    case("variance*rbf", scaled(rbf), [4.0, 0.6, 0.8], 2),
    case("variance*rq", scaled(rq), [5.0, 0.7, 0.9, 1.3], 2),
    case("variance*periodic", scaled(periodic), [1.5, 1.1, 1.4, 1.6, 2.1], 2),
    case("variance*rbf+variance*matern52", both, [3.0, 0.8, 0.9, 0.6, 0.5, 1.7], 2),
]
json.dump({"versions": {"mpmath": mpmath.__version__}, "cases": cases}, sys.stdout)
