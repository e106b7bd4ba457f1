"""Minima and evaluation counts of SciPy's L-BFGS-B on the problems of
internal/optimize, with SciPy's default tolerances (ftol 2.2e-9, gtol 1e-5,
10 corrections). Writes minima.json beside itself."""
import json
import os
import sys

import numpy as np
import scipy
from scipy.optimize import minimize


def rosenbrock(x):
    a, b = x[1:] - x[:-1] ** 2, 1 - x[:-1]
    g = np.zeros_like(x)
    g[1:] += 200 * a
    g[:-1] += -400 * x[:-1] * a - 2 * b
    return 100 * a @ a + b @ b, g


def beale(x):
    u, v = x
    c = np.array([1.5, 2.25, 2.625])
    p = np.array([1, 2, 3])
    r = c - u + u * v**p
    return r @ r, np.array([2 * r @ (v**p - 1), 2 * r @ (u * p * v ** (p - 1))])


def quadratic(x):
    """Condition number 1e6, coupled by a rank-one term, centre outside some boxes."""
    n = len(x)
    i = np.arange(n)
    d = 10.0 ** (6 * i / (n - 1))
    z = x - np.sin(i + 1.0)
    s = z.sum()
    return 0.5 * (d @ (z * z) + s * s), d * z + s


def corner(x):
    i = np.arange(len(x)) + 1.0
    return -np.sum(np.exp(x / i)), -np.exp(x / i) / i


def mixture(x):
    """A bumpy acquisition-like surface: minus a sum of Gaussian bumps."""
    n = len(x)
    f, g = 0.0, np.zeros(n)
    for k in range(6):
        c = 0.5 + 0.45 * np.sin(1.7 * (k + 1) * (np.arange(n) + 1))
        e = (0.5 + 0.1 * k) * np.exp(-4 * (x - c) @ (x - c))
        f -= e
        g += 8 * e * (x - c)
    return f, g


def run(name, f, x0, lo, hi):
    r = minimize(f, x0, jac=True, method="L-BFGS-B", bounds=None if lo is None else list(zip(lo, hi)))
    return {"problem": name, "x0": list(x0), "lo": lo, "hi": hi, "x": list(r.x), "f": r.fun, "evaluations": int(r.nfev), "iterations": int(r.nit)}


cases = []
for n in (2, 10, 50):
    x0 = [-1.2 if i % 2 == 0 else 1.0 for i in range(n)]
    cases.append(run("rosenbrock", rosenbrock, x0, None, None))
    cases.append(run("rosenbrock", rosenbrock, x0, [-2.0] * n, [0.8] * n))
    cases.append(run("rosenbrock", rosenbrock, x0, [-1.5] * n, [2.0] * n))
cases.append(run("beale", beale, [1.0, 1.0], [-4.5] * 2, [4.5] * 2))
cases.append(run("beale", beale, [1.0, 1.0], [-4.5] * 2, [2.0, 0.3]))
for n in (3, 10, 30):
    cases.append(run("quadratic", quadratic, [0.3] * n, [-0.5] * n, [0.5] * n))
    cases.append(run("quadratic", quadratic, [0.3] * n, [-2.0] * n, [2.0] * n))
for n in (2, 6):
    cases.append(run("corner", corner, [0.1] * n, [-1.0] * n, [1.0 + 0.1 * i for i in range(n)]))
for n in (2, 6):
    for s in (0.2, 0.45, 0.8):
        cases.append(run("mixture", mixture, [s + 0.02 * i for i in range(n)], [0.0] * n, [1.0] * n))

here = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(here, "minima.json"), "w") as out:
    json.dump({"versions": {"python": sys.version.split()[0], "numpy": np.__version__, "scipy": scipy.__version__}, "cases": cases}, out, indent=1)
    out.write("\n")
