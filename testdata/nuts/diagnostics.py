"""Rank-normalised split R-hat and bulk ESS by ArviZ, on chains of several kinds.

Usage: python diagnostics.py > diagnostics.json
"""

import json

import arviz
import numpy as np

rng = np.random.default_rng(1)


def ar(chains, draws, rho, shift=0.0, scale=1.0):
    x = np.empty((chains, draws))
    for c in range(chains):
        v = rng.normal()
        for t in range(draws):
            v = rho * v + np.sqrt(1 - rho**2) * rng.normal()
            x[c, t] = c * shift + (scale if c == 0 else 1.0) * v
    return x


cases = {
    "independent": ar(4, 100, 0.0),
    "correlated": ar(4, 150, 0.9),
    "antithetic": ar(4, 120, -0.5),
    "odd length": ar(3, 75, 0.5),
    "one chain": ar(1, 200, 0.7),
    "shifted chains": ar(4, 100, 0.3, shift=0.5),
    "one wide chain": ar(4, 100, 0.3, scale=5.0),
    "heavy tails": np.tan(1.5 * np.tanh(ar(4, 100, 0.2))),
    "trend": ar(2, 100, 0.3) + np.linspace(0, 2, 100),
    "ties": np.round(ar(4, 60, 0.3)),
}
out = {"versions": {"arviz": arviz.__version__, "numpy": np.__version__}, "cases": []}
for name, x in cases.items():
    x = np.round(x, 6)
    out["cases"].append(
        {
            "name": name,
            "chains": x.tolist(),
            # ArviZ gives none for one chain.
            "rhat": float(arviz.rhat(x, method="rank")) if len(x) > 1 else None,
            "ess": float(arviz.ess(x, method="bulk")),
        }
    )
print(json.dumps(out))
