"""A module for each package. A method is a class with

packages    names of the packages, for the recorded versions
__init__    takes the task (see bo bench plan) and the number of threads
tell        takes points in the units of the box and their values (minimised)
ask         returns the next point
several     whether the class takes several objectives; default no

With several objectives, all minimised, a value is the list of the objectives and the numbers that
task["bounds"] limits from above.

A coordinate of an ordinal or categorical parameter is the index of its value.
"""

from typing import NamedTuple


class Parameter(NamedTuple):
    """A coordinate of a point."""

    kind: str  # float, int, ordinal or categorical
    lo: float
    hi: float
    log: bool = False

    @property
    def values(self):
        """The values of a coordinate that is not a float."""
        return list(range(int(self.lo), int(self.hi) + 1))


def parameters(task):
    """Returns the coordinates of the points of a task."""
    bounds = list(zip(task["lo"], task["hi"]))
    if "space" not in task:
        return [Parameter("float", lo, hi) for lo, hi in bounds]
    return [Parameter(p["type"], lo, hi, p.get("log", False)) for p, (lo, hi) in zip(task["space"]["parameters"], bounds)]


def continuous(task):
    """Rejects spaces with other parameters than floats on a linear scale."""
    if "space" in task:
        raise NotImplementedError("only floats on a linear scale")
