"""Objectives and outcome constraints of a study."""

from __future__ import annotations

import math
import operator
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, SupportsFloat, SupportsIndex

from ._binary import known
from ._labels import plain, shown
from .errors import NoValueError, RequestError, TrialError

if TYPE_CHECKING:
    from ._trial import Trial

Value = SupportsFloat | Mapping[str, SupportsFloat | str] | Sequence[SupportsFloat]
"""The result of an evaluation: a number, numbers and texts by name, or a number for each
objective."""

MAX_VALUE = 1e300
"""The largest magnitude of a value, as in `bo`."""


class NoNumberError(TrialError):
    """A value in a result is not a number. NaN counts as a number."""


@dataclass(frozen=True)
class Goal:
    """An objective by the name of its number."""

    name: str = "value"
    maximize: bool = False
    standard_error: str = ""
    """The name of the number that is the standard error of its value; "" is none."""


@dataclass(frozen=True)
class Requirement:
    """An outcome constraint: a number is at most, or at least, a bound."""

    name: str
    bound: float
    at_least: bool = False

    def met(self, number: float) -> bool:
        """Reports whether a number meets the requirement."""
        return number >= self.bound if self.at_least else number <= self.bound


@dataclass(frozen=True)
class Outcomes:
    """The numbers that a complete trial has, and their order of preference."""

    goals: tuple[Goal, ...] = (Goal(),)
    requirements: tuple[Requirement, ...] = ()
    cost: str = ""

    @classmethod
    def of(
        cls,
        definition: Mapping[str, Any],
        requirements: Iterable[Mapping[str, Any]] = (),
        cost: str = "",
    ) -> Outcomes:
        """Returns the outcomes of a valid definition, with requirements as `bo` lists them.

        cost is the name of the number that is limited, if there is one.
        """
        listed = definition.get("objectives") or [{}]
        goals = (
            Goal(
                o.get("name") or "value",
                o.get("goal") == "maximize",
                o.get("standard_error") or "",
            )
            for o in listed
        )
        return cls(tuple(goals), tuple(known(Requirement, r) for r in requirements), cost)

    @property
    def several(self) -> bool:
        """Whether there are several objectives."""
        return len(self.goals) > 1

    @property
    def goal(self) -> str:
        """The direction of the first objective."""
        return "maximize" if self.goals[0].maximize else "minimize"

    @property
    def declared(self) -> list[str]:
        """The names of the numbers that a complete trial has, each once."""
        names = [g.name for g in self.goals] + [r.name for r in self.requirements]
        names += [self.cost] if self.cost else []
        return list(dict.fromkeys(names))

    @property
    def standard_errors(self) -> list[str]:
        """The names of the numbers that are standard errors, each once."""
        return list(dict.fromkeys(g.standard_error for g in self.goals if g.standard_error))

    def read(self, value: Any) -> tuple[float | None, dict[str, float]]:
        """Returns the value of a report and all its numbers, or raises TrialError.

        The value is None if there are several objectives.
        """
        numbers = read_numbers(value, [g.name for g in self.goals], self.declared)
        for name in self.standard_errors:
            if numbers.get(name, 0) < 0:
                raise TrialError(
                    f"the standard error {name} is {numbers[name]:g}, want a number of at least 0"
                )
        if (error := lacking(numbers, self.declared, self.goals)) is not None:
            raise error
        return None if self.several else numbers[self.goals[0].name], numbers

    def misses(self, value: Any) -> bool:
        """Reports whether a report of usable numbers lacks one that a complete trial has."""
        try:
            numbers = read_numbers(value, [g.name for g in self.goals], self.declared)
        except TrialError:
            return False
        return not numbers.keys() >= set(self.declared)

    def feasible(self, numbers: Mapping[str, float]) -> bool | None:
        """Reports whether numbers meet the requirements; None if there are none."""
        if not self.requirements:
            return None
        return all(r.name in numbers and r.met(numbers[r.name]) for r in self.requirements)

    def best(self, trials: Sequence[Trial]) -> Trial | None:
        """Returns the feasible trial with the best value, the first of equals.

        Without a feasible trial it is the one that violates the requirements least, as
        loop.Options.Best defines it; None if no trial is complete.
        """
        if self.several:
            raise RequestError(
                f"there are {len(self.goals)} objectives, and no single trial is the best: "
                "use pareto"
            )
        sign = -1.0 if self.goals[0].maximize else 1.0
        complete = [t for t in trials if t.state == "complete" and t.value is not None]
        feasible = [t for t in complete if t.feasible is not False]
        if feasible:
            return min(feasible, key=lambda t: sign * (t.value or 0.0))
        violations = self._violations(complete)
        return min(complete, key=lambda t: violations[t.number], default=None)

    def require_best(self, trials: Sequence[Trial]) -> Trial:
        """Returns the best trial, or raises NoValueError."""
        best = self.best(trials)
        if best is None:
            raise NoValueError("no trial has a value")
        return best

    def _violations(self, complete: Sequence[Trial]) -> dict[int, float]:
        """Returns the sum of the violations of each trial, in units of the ranges of numbers."""
        sums = dict.fromkeys((t.number for t in complete), 0.0)
        for r in self.requirements:
            halves = {t.number: t.numbers[r.name] / 2 for t in complete}
            width = max(halves.values(), default=0.0) - min(halves.values(), default=0.0)
            for t in complete:
                if not r.met(t.numbers[r.name]):
                    excess = abs(halves[t.number] - r.bound / 2)
                    sums[t.number] += excess / width if width > 0 else math.inf
        return sums


def lacking(
    numbers: Mapping[str, float], declared: Iterable[str], goals: tuple[Goal, ...]
) -> TrialError | None:
    """Returns the error of a report without a declared number, or None."""
    for name in declared:
        if name in numbers:
            continue
        only = f", only {', '.join(sorted(numbers))}" if numbers else ""
        other = ""
        if numbers and goals in ((Goal(),), (Goal(maximize=True),)):  # without a name
            best = min(numbers)
            entry = f'"{best}"'
            if goals[0].maximize:
                entry = f'{{"name": "{best}", "goal": "maximize"}}'
            other = f", or name the objective: objectives=[{entry}]"
        return TrialError(
            f'no number named "{name}" was reported{only}: want a dictionary with '
            + ", ".join(declared)
            + other
        )
    return None


def warn_unread(
    numbers: Mapping[str, float], goals: Iterable[Goal], known_names: Iterable[str]
) -> None:
    """Warns if a standard error is missing and there are numbers that are not known.

    One of them may be the standard error under another name.
    """
    goals = list(goals)
    others = sorted(numbers.keys() - {*known_names, *(g.standard_error for g in goals)})
    for g in goals:
        if others and g.standard_error and g.standard_error not in numbers:
            warnings.warn(
                f'no number named "{g.standard_error}", the standard error of {g.name}, was '
                f"reported; numbers that are only recorded: {', '.join(others)}",
                stacklevel=4,
            )
            return


def read_numbers(
    value: Any, objectives: Sequence[str], declared: Sequence[str]
) -> dict[str, float]:
    """Returns the numbers of a report by name, or raises TrialError.

    A single number is the value of the first objective. A tuple or list has the values of several
    objectives in their order. Numbers that are not declared are only recorded: values that are
    not usable are left out, with a warning. Texts are the note of the report, see read_note.
    """
    if len(objectives) > 1 and isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        if len(value) != len(objectives):
            wanted = f"{len(objectives)} numbers: {', '.join(objectives)}"
            raise TrialError(f"the value is {shown(value)}, want {wanted}")
        value = dict(zip(objectives, value, strict=True))
    if not isinstance(value, Mapping):
        return {objectives[0]: _number(value, "value")}
    numbers = {}
    for key, v in value.items():
        name = str(key)
        try:
            numbers[name] = _number(v, name)
        except TrialError:
            if name in declared:
                raise
            if isinstance(v, str):
                continue
            warnings.warn(
                f'"{name}" is no finite number, and no text: it is left out of the trial',
                stacklevel=2,
            )
    return numbers


def read_note(value: Any) -> str:
    """Returns the texts of a report as one text, such as "saved=/runs/7"."""
    if not isinstance(value, Mapping):
        return ""
    texts = sorted((str(key), v) for key, v in value.items() if isinstance(v, str) and v)
    return ", ".join(f"{name}={text}" for name, text in texts)


def _number(value: Any, name: str) -> float:
    try:
        number = as_float(value, name)
    except TrialError as err:
        hint = ": is a return missing?" if value is None else ""
        if name == "value" and isinstance(value, (tuple, list)):
            hint = ": state the names of several numbers in objectives"
        raise NoNumberError(f"{err}{hint}") from None
    if not usable(number):
        beyond = f" is beyond ±{MAX_VALUE}" if math.isfinite(number) else ""
        raise TrialError(f"{name} is not a usable number: {number}{beyond}")
    return number


def as_float(value: Any, name: str = "value") -> float:
    """Returns a number, which may be NaN or infinite, or raises TrialError."""
    try:
        if isinstance(value, (str, bytes)) or getattr(value, "ndim", 0) != 0:
            raise TypeError
        if plain(getattr(value, "mask", False)) is True:  # a masked number of NumPy
            return math.nan
        return float(plain(value))
    except (TypeError, ValueError, OverflowError):
        raise TrialError(f"the {name} is {shown(value)}, want a number") from None


def as_int(number: SupportsIndex, name: str) -> int:
    """Returns a whole number, or raises TrialError."""
    try:
        return operator.index(number)
    except TypeError:
        raise TrialError(f"the {name} is {shown(number)}, want a whole number") from None


def as_count(number: SupportsIndex) -> int:
    """Returns a number of trials to ask, or raises TrialError."""
    n = as_int(number, "number of trials to ask")
    if n < 1:
        raise TrialError(f"{n} trials to ask, want at least 1")
    return n


def usable(number: float) -> bool:
    """Reports whether `bo` takes a number."""
    return abs(number) <= MAX_VALUE
