"""Writes brusselator.json: the Brusselator objective by an adaptive high-order
solver (SciPy's DOP853), from a given initial field instead of random noise:
cell (i, j) has sin(12.9898 i + 78.233 j + i j) in place of N(0,1)."""

import json

import numpy as np
import scipy
from scipy.integrate import solve_ivp

N = 64
i, j = np.mgrid[0:N, 0:N]
INITIAL = np.sin(12.9898 * i + 78.233 * j + i * j)
WEIGHT = np.full((N, N), 0.1)
WEIGHT[:2] = WEIGHT[-2:] = 1
WEIGHT[:, :2] = WEIGHT[:, -2:] = 1


def laplacian(f):
    p = np.pad(f, 1, mode="edge")
    return p[2:, 1:-1] + p[:-2, 1:-1] + p[1:-1, 2:] + p[1:-1, :-2] - 4 * f


def objective(a, b, d0, d1):
    def rhs(_, y):
        u, v = y.reshape(2, N, N)
        r = u * u * v
        return np.concatenate([(d0 * laplacian(u) + a - (b + 1) * u + r).ravel(), (d1 * laplacian(v) + b * u - r).ravel()])

    y0 = np.concatenate([np.full(N * N, a), (b / a + 0.1 * INITIAL).ravel()])
    y = solve_ivp(rhs, (0, 20), y0, method="DOP853", rtol=1e-7, atol=1e-9).y[:, -1].reshape(2, N, N)
    return float(np.var(y * WEIGHT, ddof=1))


POINTS = [
    [0.316, 0.1, 5, 5],
    [2.55, 2.55, 2.505, 2.505],
    [1, 3, 0.1, 1],
    [4.5, 5, 0.01, 5],
    [0.4, 3, 4, 2],
    [3, 4, 1, 0.2],
]
json.dump({"scipy": scipy.__version__, "x": POINTS, "f": [objective(*p) for p in POINTS]}, open("brusselator.json", "w"))
print(open("brusselator.json").read())
