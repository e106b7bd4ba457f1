"""A module for each package. A method is a class with

packages    names of the packages, for the recorded versions
__init__    takes the task (see bo bench plan) and the number of threads
tell        takes points in the units of the box and their values (minimised)
ask         returns the next point
several     whether the class takes several objectives; default no

With several objectives, all minimised, a value is the list of the objectives and the numbers that
task["bounds"] limits from above.

A coordinate of an ordinal or categorical parameter is the index of its value. The coordinate of an
inactive parameter is None.
"""

import re
from typing import NamedTuple


class Parameter(NamedTuple):
    """A coordinate of a point."""

    kind: str  # float, int, ordinal or categorical
    lo: float
    hi: float
    log: bool = False
    # Coordinates of another parameter and of its value under which this one is active.
    when: tuple | None = None

    def active(self, point):
        return self.when is None or point[self.when[0]] == self.when[1]

    @property
    def values(self):
        """The values of a coordinate that is not a float."""
        return list(range(int(self.lo), int(self.hi) + 1))


def parameters(task):
    """Returns the coordinates of the points of a task."""
    bounds = list(zip(task["lo"], task["hi"]))
    if "space" not in task:
        return [Parameter("float", lo, hi) for lo, hi in bounds]
    listed = task["space"]["parameters"]
    return [
        Parameter(p["type"], lo, hi, p.get("log", False), condition(p, listed))
        for p, (lo, hi) in zip(listed, bounds)
    ]


def condition(parameter, listed):
    """Returns Parameter.when of a condition that another parameter has a value."""
    if "when" not in parameter:
        return None
    name, value = re.fullmatch(r"(\w+) == '(.*)'", parameter["when"]).groups()
    i = [p["name"] for p in listed].index(name)
    return i, listed[i]["values"].index(value)


def continuous(task):
    """Rejects spaces with other parameters than floats on a linear scale."""
    if "space" in task:
        raise NotImplementedError("only floats on a linear scale")
