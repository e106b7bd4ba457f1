"""Optuna's distributions and trials in the form of requests to `bo suggest`."""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any

from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)
from optuna.trial import FrozenTrial, TrialState

from ._outcomes import MAX_VALUE
from ._space import Categorical, Float, Int

_LEVELS = 2**50  # the limits of `bo`
_LOG_INT = 2**40
_SMALLEST = 2.0**-1022

Distributions = dict[str, BaseDistribution]


def single(distribution: BaseDistribution) -> bool:
    """Reports whether all values of a distribution are equal."""
    if isinstance(distribution, CategoricalDistribution):
        return not any(distribution.to_internal_repr(c) for c in distribution.choices)
    return distribution.single()


def searchable(distribution: BaseDistribution) -> bool:
    """Reports whether a distribution has more than one value and is within the limits of `bo`."""
    return obstacle(distribution) is None


def obstacle(distribution: BaseDistribution) -> str | None:
    """Returns the property of a distribution for which `bo` cannot search it, or None."""
    if single(distribution):
        return "equal choices alone"
    if isinstance(distribution, CategoricalDistribution):
        return None
    if not isinstance(distribution, (FloatDistribution, IntDistribution)):
        return f"a {type(distribution).__name__}"
    low, high = distribution.low, distribution.high
    found = None
    if isinstance(distribution, IntDistribution) and distribution.log:
        if high > _LOG_INT:
            found = "an upper bound above 2^40"
    elif distribution.step is not None:
        if (high - low) / distribution.step >= _LEVELS:
            found = "2^50 steps or more"
    elif not math.isfinite(high - low):
        found = "a range of infinite width"
    elif distribution.log and low < _SMALLEST:
        found = "a lower bound below 2^-1022"
    return found


def parameter(distribution: BaseDistribution) -> Float | Int | Categorical:
    """Returns the parameter that stands for a distribution.

    A choice is the text of its index. Of choices that are equal in Python, such as 1 and True, it
    is the index of the first, which Optuna stores. A value of a distribution with a step is the
    number of steps above the lower bound.
    """
    if isinstance(distribution, CategoricalDistribution):
        first = (distribution.to_internal_repr(c) for c in distribution.choices)
        return Categorical([str(int(i)) for i in dict.fromkeys(first)])
    assert isinstance(distribution, (FloatDistribution, IntDistribution))
    low, high, step = distribution.low, distribution.high, distribution.step
    if step is not None and not distribution.log:
        return Int(0, round((high - low) / step))
    if isinstance(distribution, IntDistribution):
        return Int(int(low), int(high), log=True)
    return Float(low, high, log=distribution.log)


def encode(distribution: BaseDistribution, value: Any) -> Any:
    """Returns the value of the parameter, or None if the distribution does not contain it."""
    try:
        internal = distribution.to_internal_repr(value)
    except ValueError:
        return None
    if isinstance(distribution, CategoricalDistribution):
        return str(int(internal))
    assert isinstance(distribution, (FloatDistribution, IntDistribution))
    low, high, step = distribution.low, distribution.high, distribution.step
    if not low <= internal <= high:
        return None
    if step is None:
        return float(internal)
    if distribution.log:
        return int(value)
    exact = (value - low) / step
    level = round(exact)
    return level if abs(exact - level) < 1e-8 else None


def decode(distribution: BaseDistribution, value: Any) -> Any:
    """Returns the value in Optuna of a value of the parameter."""
    if isinstance(distribution, CategoricalDistribution):
        return distribution.choices[int(value)]
    assert isinstance(distribution, (FloatDistribution, IntDistribution))
    low, high, step = distribution.low, distribution.high, distribution.step
    if step is not None and not distribution.log:
        value = min(low + int(value) * step, high)
    return int(value) if isinstance(distribution, IntDistribution) else float(value)


def contains(distribution: BaseDistribution, value: Any) -> bool:
    """Reports whether a distribution contains a value."""
    return encode(distribution, value) is not None


def parameter_names(space: Iterable[str]) -> dict[str, str]:
    """Returns the name in `bo` of each parameter: its own name if that is a plain word.

    A name such as c0 or o1 is replaced, because a constraint or an objective has it.
    """
    return {
        name: name
        if re.fullmatch(r"[A-Za-z_]\w{0,99}", name) and not re.fullmatch(r"bo|[co]\d+", name)
        else f"parameter {i}"
        for i, name in enumerate(space, 1)
    }


def groups(trials: Sequence[FrozenTrial]) -> list[Distributions]:
    """Returns the coarsest groups of parameters that occur together in all finished trials.

    Pruned trials, which may end before all parameters have a value, contribute only parameters
    that no complete trial has. A parameter has its latest distribution.
    """
    latest: Distributions = {}
    parts: list[frozenset[str]] = []
    for state in (TrialState.COMPLETE, TrialState.PRUNED):
        known = frozenset(latest)
        split = set()
        for t in trials:
            if t.state != state:
                continue
            new = t.distributions
            if known:
                new = {name: d for name, d in new.items() if name not in known}
            latest.update(new)
            names = frozenset(new)
            if names and names not in split:
                split.add(names)
                parts = _refine(parts, names)
    return [{name: latest[name] for name in sorted(part)} for part in sorted(parts, key=sorted)]


def _refine(parts: list[frozenset[str]], names: frozenset[str]) -> list[frozenset[str]]:
    """Splits parts into their names inside and outside names, and adds the new names."""
    refined = [part for p in parts for part in (p & names, p - names)]
    refined.append(names.difference(*parts))
    return [part for part in refined if part]


class Values:
    """The values of the finished trials of a study as `bo` receives them.

    An infinite value in the direction of the goal counts as the best finite value. A trial is
    failed if a value is infinite in the other direction, or if it violates a constraint and
    the constraints are not measured. A pruned trial of a study with one objective has its last
    intermediate value, moved into the range from the median to the worst of the complete
    trials; without an intermediate value it is failed.
    """

    def __init__(
        self,
        trials: Sequence[FrozenTrial],
        goals: Sequence[str],
        names: Callable[[FrozenTrial], frozenset[str]] = lambda t: frozenset(t.constraints),
    ) -> None:
        """Takes the trials, and a function that returns the names of a trial's constraints."""
        known = {names(t) for t in trials if t.state == TrialState.COMPLETE}
        # Constraints are measured if all complete trials have the same ones.
        self.constraints = sorted(known.pop()) if len(known) == 1 else []
        self._trials = trials
        self._signs = [-1.0 if goal == "maximize" else 1.0 for goal in goals]

    @cached_property
    def _signed(self) -> list[list[float]]:
        """The finite values of each objective at feasible trials, in ascending order."""
        trials = [t for t in self._trials if t.state == TrialState.COMPLETE and feasible(t)]
        complete = [t.values for t in trials]
        signed = ([sign * v[i] for v in complete if v] for i, sign in enumerate(self._signs))
        return [sorted(v for v in values if abs(v) <= MAX_VALUE) for values in signed]

    def constant(self, trial: FrozenTrial) -> bool:
        """Reports whether the values of a finished trial do not depend on other trials."""
        if trial.state == TrialState.COMPLETE:
            return all(abs(v) <= MAX_VALUE for v in trial.values or ())
        return bool(trial.state == TrialState.FAIL)

    def of(self, trial: FrozenTrial) -> list[float] | None:
        """Returns the values of a finished trial, or None if it counts as failed."""
        if not self.constraints and not feasible(trial):
            return None
        if trial.state == TrialState.COMPLETE and trial.values:
            signed = [
                self._complete(i, sign * value)
                for i, (sign, value) in enumerate(zip(self._signs, trial.values, strict=True))
            ]
        elif trial.state == TrialState.PRUNED and trial.intermediate_values and not self._several:
            last = trial.intermediate_values[max(trial.intermediate_values)]
            signed = [self._pruned(self._signs[0] * last)]
        else:
            return None
        values = [s * v for s, v in zip(self._signs, signed, strict=True) if v is not None]
        return values if len(values) == len(signed) else None

    @property
    def _several(self) -> bool:
        return len(self._signs) > 1

    def _complete(self, objective: int, signed: float) -> float | None:
        if abs(signed) <= MAX_VALUE:
            return signed
        finite = self._signed[objective]
        return finite[0] if signed < 0 and finite else None

    def _pruned(self, signed: float) -> float | None:
        if not abs(signed) <= MAX_VALUE:  # also NaN
            return None
        finite = self._signed[0]
        if not finite:
            return signed
        return min(max(signed, statistics.median(finite)), finite[-1])

    def numbers(self, trial: FrozenTrial) -> dict[str, float] | None:
        """Returns the measured constraints of a trial, or None if one has no usable number."""
        found = [trial.constraints.get(key, math.nan) for key in self.constraints]
        if not all(abs(c) <= MAX_VALUE for c in found):
            return None
        return {f"c{i}": float(c) for i, c in enumerate(found)}


def feasible(trial: FrozenTrial) -> bool:
    """Reports whether a trial satisfies its constraints."""
    return all(c <= 0 for c in trial.constraints.values())
