"""Conditions of Optuna's parameters, inferred from the trials that have them."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from optuna.distributions import BaseDistribution, CategoricalDistribution, IntDistribution
from optuna.trial import FrozenTrial, TrialState

from ._distributions import (
    Distributions,
    encode,
    groups,
    parameter,
    parameter_names,
    searchable,
)
from ._space import Categorical, Int

_COUNTER = 50  # the largest number of values of an int on which conditions are inferred


@dataclass(frozen=True)
class Condition:
    """The condition that a parameter, the control, has one of some values.

    Values are in the form of requests to `bo suggest`.
    """

    control: str
    values: tuple[Any, ...]

    def holds(self, point: Mapping[str, Any]) -> bool:
        """Reports whether the condition holds at values by the names of the parameters."""
        return point.get(self.control) in self.values

    def text(self, names: Mapping[str, str]) -> str:
        """Returns the condition as an expression, given the names of the parameters in `bo`."""
        name = names[self.control]
        if not re.fullmatch(r"\w+", name):
            name = f"param['{name}']"
        return f"{name} in {json.dumps(self.values)}"


@dataclass(frozen=True)
class Part:
    """Parameters that are sampled together.

    A parameter with a condition comes after its control. It has no value where the condition does
    not hold.
    """

    distributions: Distributions
    conditions: Mapping[str, Condition] = field(default_factory=dict)

    def definition(self, names: Mapping[str, str]) -> list[dict[str, Any]]:
        """Returns the parameters in the form of a request, given their names in `bo`."""
        return [
            {
                "name": names[name],
                **parameter(d).definition(),
                **({"when": self.conditions[name].text(names)} if name in self.conditions else {}),
            }
            for name, d in self.distributions.items()
        ]

    def request(self, params: Mapping[str, Any]) -> dict[str, Any] | None:
        """Returns the values of the active parameters in the form of a request.

        It is None if one of them has no value, or a value outside of its distribution.
        """
        names = parameter_names(self.distributions)
        values: dict[str, Any] = {}
        for name, d in self.distributions.items():
            condition = self.conditions.get(name)
            if condition is not None and not condition.holds(values):
                continue
            value = encode(d, params[name]) if name in params else None
            if value is None:
                return None
            values[name] = value
        return {names[name]: value for name, value in values.items()}

    def given(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Returns values of some parameters in the form of a request for suggestions given them.

        A value is left out if it is outside of its distribution, or if its parameter is inactive
        at every point that has the values before it.
        """
        names = parameter_names(self.distributions)
        values: dict[str, Any] = {}
        possible: dict[str, Sequence[Any]] = {}  # by controls, at points with the values
        for name, d in self.distributions.items():
            value = encode(d, params[name]) if name in params else None
            if value is None:
                continue
            left = {
                c.control: [v for v in c.values if v in possible.get(c.control, c.values)]
                for c in self._conditions_of(name)
            }
            if all(left.values()):
                values[names[name]] = value
                possible |= {**left, name: [value]}
        return values

    def _conditions_of(self, name: str) -> Iterator[Condition]:
        """Yields the condition of a parameter, of its control, and so on."""
        while (condition := self.conditions.get(name)) is not None:
            yield condition
            name = condition.control


def divide(trials: Sequence[FrozenTrial], controls: Iterable[str] | None = None) -> list[Part]:
    """Returns the parts of the parameters of complete and pruned trials.

    The first part has the parameters of all complete trials and those whose condition is
    found. The others are groups of parameters that occur together. controls has the parameters
    on which conditions are found; the default is all parameters.
    """
    together = groups(trials)
    latest = {name: d for group in together for name, d in group.items() if searchable(d)}
    allowed = latest.keys() if controls is None else latest.keys() & set(controls)
    complete = [t.distributions.keys() for t in trials if t.state == TrialState.COMPLETE]
    everywhere = {name for name in latest if complete and all(name in d for d in complete)}
    choices = {name: c for name in allowed if (c := _choices(latest[name]))}
    conditions = _infer(trials, latest, choices, everywhere)
    tree = [*sorted(everywhere), *conditions]
    parts = [Part({name: latest[name] for name in tree}, conditions)]
    parts += [
        Part({name: latest[name] for name in group if name in latest and name not in tree})
        for group in together
    ]
    return [part for part in parts if part.distributions]


def _infer(
    trials: Sequence[FrozenTrial],
    latest: Distributions,
    choices: Mapping[str, Sequence[Any]],
    everywhere: Collection[str],
) -> dict[str, Condition]:
    """Returns the conditions of parameters that only some complete trials have.

    A parameter has a condition if its trials are exactly the trials with certain values of one
    other parameter: any values of a categorical, or the values on one side of an int, such as
    a number of layers. Trials that are not complete count if they have the parameter. Two such
    parameters leave the condition open. Parameters of all trials come first, then parameters
    whose condition is found. choices has the values of the controls.
    """
    distinct = {
        (
            t.state == TrialState.COMPLETE,
            frozenset(t.params),
            tuple((n, encode(latest[n], t.params[n])) for n in choices if n in t.params),
        )
        for t in trials
    }
    rows = [(complete, names, dict(values)) for complete, names, values in distinct]
    sometimes = sorted(
        {n for complete, names, _ in rows if complete for n in names & latest.keys() - everywhere}
    )
    found: dict[str, Condition] = {}
    controls = set(everywhere)
    while controls:
        new = {}
        for name in sometimes:
            if name in found:
                continue
            fit = [
                Condition(control, values)
                for control in sorted(controls & choices.keys())
                if (values := _separating(rows, name, control, choices[control], latest[control]))
            ]
            if len(fit) == 1:
                new[name] = fit[0]
        found |= new
        controls = set(new)
    return found


def _choices(d: BaseDistribution) -> Sequence[Any]:
    """Returns the values of a parameter that may control others, or an empty sequence."""
    p = parameter(d)
    if isinstance(p, Categorical):
        return list(p.values)
    if (
        isinstance(d, IntDistribution)
        and isinstance(p, Int)
        and p.max - p.min < _COUNTER
        and not p.log
    ):
        return range(p.min, p.max + 1)
    return ()


def _separating(
    table: Iterable[tuple[bool, frozenset[str], Mapping[str, Any]]],
    name: str,
    control: str,
    choices: Sequence[Any],
    d: BaseDistribution,
) -> tuple[Any, ...]:
    """Returns the values of a control that exactly the trials with a parameter have.

    Each row of the table has the completeness, the parameters and the values of controls of trials.
    It is empty if there are none, or if all trials with the control have the parameter.
    """
    having: set[Any] = set()
    lacking: set[Any] = set()
    for complete, names, values in table:
        if not complete and name not in names:  # it may have ended before the parameter
            continue
        if control not in names:
            if name in names:
                return ()
        elif (value := values[control]) is not None:  # within the latest range
            (having if name in names else lacking).add(value)
    if not having or not lacking or having & lacking:
        return ()
    if isinstance(d, CategoricalDistribution):
        return tuple(v for v in choices if v in having)
    low, high = min(having), max(having)
    if all(v < low for v in lacking):
        high = choices[-1]
    elif all(v > high for v in lacking):
        low = choices[0]
    else:
        return ()
    return tuple(v for v in choices if low <= v <= high)
