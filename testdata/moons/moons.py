"""Two half circles that reach into each other: train.csv and test.csv.

    python moons.py

With t uniform on [0, pi], an "upper" point is (cos t, sin t) and a "lower" one
(1 - cos t, 1/2 - sin t), both with noise of standard deviation 0.2.
"""
import csv
import math
import os
import random

random.seed(20261120)
folder = os.path.dirname(os.path.abspath(__file__))
for name, rows in (("train", 120), ("test", 200)):
    with open(os.path.join(folder, name + ".csv"), "w", newline="") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(["x1", "x2", "moon"])
        for i in range(rows):
            t = random.uniform(0, math.pi)
            x, y, label = (math.cos(t), math.sin(t), "upper") if i % 2 == 0 else (1 - math.cos(t), 0.5 - math.sin(t), "lower")
            out.writerow(["%.4f" % (x + random.gauss(0, 0.2)), "%.4f" % (y + random.gauss(0, 0.2)), label])
