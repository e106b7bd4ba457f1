"""Writes space/sobol.bin: the primitive polynomials and initial direction
numbers of the first 1111 dimensions of new-joe-kuo-6, from the copy that
SciPy ships (scipy/stats/_sobol_direction_numbers.npz).

Layout, little-endian uint16: for each dimension from the second on, the
polynomial with all its coefficients as bits (degree s = bit length - 1), then
m_1 … m_s. Polynomials up to degree 13 fill exactly 1111 dimensions.

    python direction_numbers.py ../../space/sobol.bin
"""

import os
import sys

import numpy as np
import scipy.stats

DIMENSIONS = 1111

source = os.path.join(os.path.dirname(scipy.stats.__file__), "_sobol_direction_numbers.npz")
numbers = np.load(source)
out = []
for poly, m in zip(numbers["poly"][1:DIMENSIONS], numbers["vinit"][1:DIMENSIONS]):
    degree = int(poly).bit_length() - 1
    assert (m[:degree] % 2 == 1).all() and (m[degree:] == 0).all()
    out += [int(poly), *map(int, m[:degree])]
np.array(out, dtype="<u2").tofile(sys.argv[1])
