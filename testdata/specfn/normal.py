"""Reference values of erfcx, log Phi, log(phi + z Phi) and the MES term, with
derivatives, by mpmath with 80 digits. Writes normal.json beside itself."""
import json
import os
import sys

import mpmath as mp

mp.mp.dps = 80


def tail(f, z):
    """f at enough digits to survive cancellation in both tails."""
    with mp.workdps(80 + int(4 * mp.log10(1 + abs(z))) + int(max(z, 0) ** 2 / 4)):
        return f(mp.mpf(z))


def phi(z):
    return mp.exp(-z * z / 2) / mp.sqrt(2 * mp.pi)


def Phi(z):
    return mp.erfc(-z / mp.sqrt(2)) / 2


def erfcx(x):
    return mp.exp(x * x) * mp.erfc(x)


def log_cdf(z):
    return mp.log(Phi(z))


def log_h(z):
    return mp.log(phi(z) + z * Phi(z))


def mes(z):
    return z * phi(z) / (2 * Phi(z)) - mp.log(Phi(z))


def dlog_cdf(z):
    return phi(z) / Phi(z)


def dlog_h(z):
    return Phi(z) / (phi(z) + z * Phi(z))


def dmes(z):
    r = phi(z) / Phi(z)
    return -r / 2 * (1 + z * (z + r))


zs = [-1e6, -1e5, -1e4, -1000.5, -300, -100, -50.25, -38, -37, -30, -20, -12, -10, -8.125, -6, -5.0001, -5, -4.9999, -4, -3, -2.5, -2, -1.5,
      -1.0001, -1, -0.9999, -0.75, -0.5, -0.1, -1e-3, -1e-9, 0, 1e-9, 1e-3, 0.1, 0.5, 0.75, 0.9, 0.90234, 1, 2, 3, 4, 5, 6.5, 8, 10, 20, 37, 50, 100]
xs = [-26, -20, -10, -5, -2, -1, -0.5, -1e-8, 0, 1e-8, 0.1, 0.5, 1, 2, 3, 5, 8, 12, 20, 24.9, 25, 25.1, 26.5, 30, 50, 100, 1e4, 1e8, 1e200]


def table(f, df, points):
    return [[float(z), float(tail(f, z)), float(tail(df, z))] for z in points]


# erfcx far right through its asymptotic behaviour: mpmath's erfc handles 1e8 but not 1e200.
def erfcx_any(x):
    if x > 1e6:
        return 1 / (x * mp.sqrt(mp.pi)) * (1 - 1 / (2 * x * x))
    return erfcx(x)


out = {
    "versions": {"python": sys.version.split()[0], "mpmath": mp.__version__},
    "erfcx": [[float(x), float(erfcx_any(mp.mpf(x)))] for x in xs],
    "log_cdf": table(log_cdf, dlog_cdf, zs),
    "log_h": table(log_h, dlog_h, zs),
    "mes": table(mes, dmes, zs),
}
here = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(here, "normal.json"), "w") as f:
    json.dump(out, f, indent=0)
    f.write("\n")
