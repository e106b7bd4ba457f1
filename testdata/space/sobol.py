"""Writes sobol.json: unscrambled Sobol and Halton points of SciPy.

Coordinates are integers: Sobol times 2^30 (exact), Halton as floats.
"""

import json

import scipy
from scipy.stats import qmc

COLUMNS = [0, 1, 2, 3, 4, 10, 39, 100, 500, 999, 1110]
HALTON = [0, 1, 2, 5, 20, 99]
sobol = qmc.Sobol(1111, scramble=False, bits=30).random(64)
far = qmc.Sobol(1111, scramble=False, bits=30).fast_forward(100000).random(2)
halton = qmc.Halton(100, scramble=False).random(40)
json.dump(
    {
        "scipy": scipy.__version__,
        "sobol_columns": COLUMNS,
        "sobol": [[int(row[c] * 2**30) for c in COLUMNS] for row in sobol],
        "sobol_from_100000": [[int(row[c] * 2**30) for c in COLUMNS] for row in far],
        "halton_columns": HALTON,
        "halton": [[row[c] for c in HALTON] for row in halton],
    },
    open("sobol.json", "w"),
)
