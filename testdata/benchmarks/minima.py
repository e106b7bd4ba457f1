"""Writes minima.json: minimisers and minima by mpmath, Newton's method on the
gradient in 40 digits from the rounded values that the literature gives."""

import json

import mpmath
from mpmath import mp

mp.dps = 40

ALPHA = [mp.mpf(s) for s in ("1.0", "1.2", "3.0", "3.2")]
A3 = [[3, 10, 30], ["0.1", 10, 35], [3, 10, 30], ["0.1", 10, 35]]
P3 = [[3689, 1170, 2673], [4699, 4387, 7470], [1091, 8732, 5547], [381, 5743, 8828]]
A6 = [[10, 3, 17, "3.5", "1.7", 8], ["0.05", 10, 17, "0.1", 8, 14], [3, "3.5", "1.7", 10, 17, 8], [17, 8, "0.05", 10, "0.1", 14]]
P6 = [
    [1312, 1696, 5569, 124, 8283, 5886],
    [2329, 4135, 8307, 3736, 1004, 9991],
    [2348, 1451, 3522, 2883, 3047, 6650],
    [4047, 8828, 8732, 5743, 1091, 381],
]


def hartmann(a, p):
    def f(*x):
        return -sum(
            w * mp.exp(-sum(mp.mpf(aj) * (xj - mp.mpf(pj) / 10000) ** 2 for aj, xj, pj in zip(ai, x, pi)))
            for w, ai, pi in zip(ALPHA, a, p)
        )

    return f


def camel(x, y):
    return (4 - mp.mpf("2.1") * x**2 + x**4 / 3) * x**2 + x * y + (-4 + 4 * y**2) * y**2


BETA = [mp.mpf(b) / 10 for b in (1, 2, 2, 4, 4, 6, 3, 7, 5, 5)]
C = [
    [4, 1, 8, 6, 3, 2, 5, 8, 6, 7],
    [4, 1, 8, 6, 7, 9, 3, 1, 2, "3.6"],
    [4, 1, 8, 6, 3, 2, 5, 8, 6, 7],
    [4, 1, 8, 6, 7, 9, 3, 1, 2, "3.6"],
]


def shekel(*x):
    return -sum(1 / (sum((xj - mp.mpf(C[j][i])) ** 2 for j, xj in enumerate(x)) + BETA[i]) for i in range(10))


def tang(x):
    return (x**4 - 16 * x**2 + 5 * x) / 2


found = {}


def polish(name, f, start):
    x = mp.matrix([mp.mpf(str(v)) for v in start])
    n = len(start)
    for _ in range(8):
        order = lambda *ks: tuple(ks.count(i) for i in range(n))
        g = mp.matrix([mp.diff(f, tuple(x), order(i)) if n > 1 else mp.diff(f, x[0]) for i in range(n)])
        h = mp.matrix(n, n)
        for i in range(n):
            for j in range(n):
                h[i, j] = mp.diff(f, tuple(x), order(i, j)) if n > 1 else mp.diff(f, x[0], 2)
        x -= mp.lu_solve(h, g)
    found[name] = {"minimum": float(f(*x)), "minimizer": [float(v) for v in x]}


polish("hartmann3", hartmann(A3, P3), (0.114614, 0.555649, 0.852547))
polish("hartmann6", hartmann(A6, P6), (0.20169, 0.150011, 0.476874, 0.275332, 0.311652, 0.6573))
polish("six-hump-camel", camel, (0.0898, -0.7126))
polish("shekel", shekel, (4.0007, 4.0006, 3.9997, 3.9995))
polish("styblinski-tang1", tang, (-2.903534,))
json.dump({"mpmath": mpmath.__version__, "found": found}, open("minima.json", "w"), indent=1)
