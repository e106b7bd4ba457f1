"""Search spaces: the types of parameters, as in the study file.

A parameter with a condition such as when="opt == 'sgd'" is active only where the condition holds.
Points elsewhere do not have it.

A parameter with given=True, such as the humidity of the day, is never suggested: every ask states
its value in given=.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .errors import BoError, RequestError, StudyError

Scalar = str | float | bool
"""A value of a categorical, ordinal or fixed parameter: text, a number or a boolean."""

Params = dict[str, Any]
"""The values of a point by the name of the parameter."""


@dataclass(frozen=True)
class Float:
    """A real number from min to max, searched on a logarithmic scale if log is true.

    With a step, the values are min, min + step, and so on.
    """

    min: float
    max: float
    log: bool = False
    step: float | None = None
    when: str | None = None
    given: bool = False

    def definition(self) -> dict[str, Any]:
        """Returns the form of the study file, without the name."""
        return _form("float", self, **_range(self))

    def decode(self, value: Any) -> float:
        """Returns the value of a point that `bo` suggests."""
        return float(value)


@dataclass(frozen=True)
class Int:
    """A whole number from min to max, both included, in steps of step if given."""

    min: int
    max: int
    log: bool = False
    step: int | None = None
    when: str | None = None
    given: bool = False

    def definition(self) -> dict[str, Any]:
        """Returns the form of the study file, without the name."""
        return _form("int", self, **_range(self))

    def decode(self, value: Any) -> int:
        """Returns the value of a point that `bo` suggests."""
        return int(value)


@dataclass(frozen=True)
class Bool:
    """True or False."""

    when: str | None = None
    given: bool = False

    def definition(self) -> dict[str, Any]:
        """Returns the form of the study file, without the name."""
        return _form("bool", self)

    def decode(self, value: Any) -> bool:
        """Returns the value of a point that `bo` suggests."""
        return bool(value)


@dataclass(frozen=True)
class Categorical:
    """One of values, which have no order."""

    values: Sequence[Scalar]
    when: str | None = None
    given: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", _values(self.values))

    def definition(self) -> dict[str, Any]:
        """Returns the form of the study file, without the name."""
        return _form("categorical", self, values=list(self.values))

    def decode(self, value: Any) -> Any:
        """Returns the value of a point that `bo` suggests."""
        return _listed(value, self.values)


@dataclass(frozen=True)
class Ordinal:
    """One of values, which are ordered."""

    values: Sequence[Scalar]
    when: str | None = None
    given: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", _values(self.values))

    def definition(self) -> dict[str, Any]:
        """Returns the form of the study file, without the name."""
        return _form("ordinal", self, values=list(self.values))

    def decode(self, value: Any) -> Any:
        """Returns the value of a point that `bo` suggests."""
        return _listed(value, self.values)


@dataclass(frozen=True)
class Fixed:
    """A value that is passed to the objective and not searched."""

    value: Scalar
    when: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", plain(self.value))

    def definition(self) -> dict[str, Any]:
        """Returns the form of the study file, without the name."""
        return _form("fixed", self, value=self.value)

    def decode(self, value: Any) -> Any:
        """Returns the value of a point that `bo` suggests."""
        return self.value


Parameter = Float | Int | Bool | Categorical | Ordinal | Fixed

Space = Mapping[str, object] | Sequence[Mapping[str, object]]
"""A search space: parameters by name, or the list of `parameters` of a study file.

By name, each entry is a Parameter; a list or tuple of values stands for Categorical, and a single
value for Fixed. A tuple of two numbers is an error, because it could be a range, and so is one that
ends with texts, such as (1e-5, 0.1, "log").
"""

_KINDS: dict[str, type[Parameter]] = {
    "float": Float,
    "int": Int,
    "bool": Bool,
    "categorical": Categorical,
    "ordinal": Ordinal,
    "fixed": Fixed,
}


def parse_space(space: Space) -> tuple[list[dict[str, Any]], dict[str, Parameter]]:
    """Returns the parameters of a space in the form of the study file, and by name."""
    if not isinstance(space, Mapping):
        if not isinstance(space, Sequence) or not all(isinstance(p, Mapping) for p in space):
            raise StudyError(f"the space is {shown(space)}, want parameters by name")
        definitions = [dict(p) for p in space]
        return definitions, {str(p.get("name")): _from_definition(p) for p in definitions}
    parameters = {name: _parameter(name, value) for name, value in space.items()}
    for name, p in parameters.items():
        _require_several(name, p)
        if callable(p.when):
            raise StudyError(
                f'parameter "{name}": when is {shown(p.when)}, want a text such as '
                "\"optimizer == 'sgd'\""
            )
        others = [v for v in getattr(p, "values", ()) if not isinstance(v, (str, int, float))]
        if others:
            v = shown(others[0])
            raise StudyError(
                f'parameter "{name}": a value is {v}, want a number, text or boolean: use a text, '
                f'which the function translates: {{"text": {v}}}[params["{name}"]]'
            )
    return [{"name": name, **p.definition()} for name, p in parameters.items()], parameters


def _parameter(name: str, value: Any) -> Parameter:
    if isinstance(value, (Float, Int, Bool, Categorical, Ordinal, Fixed)):
        return value
    if isinstance(value, tuple) and resembles_range(value):
        log = ", log=True" if any("log" in text.lower() for text in value[2:]) else ""
        bounds = f"{value[0]}, {value[1]}{log}"
        raise StudyError(
            f'parameter "{name}" is {value}: use Float({bounds}) or Int({bounds}) for a range, or '
            f"{list(value)} for a choice"
        )
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        return Categorical(value)
    if getattr(value, "ndim", 0) == 1:
        return Categorical(value.tolist())
    if not isinstance(plain(value), (str, int, float, type(None))):
        raise StudyError(
            f'parameter "{name}" is {shown(value)}, want Float, Int, Bool, Ordinal, Categorical, '
            "Fixed, a list or a value"
        )
    return Fixed(value)


def resembles_range(value: tuple[Any, ...]) -> bool:
    """Reports whether a tuple has two numbers, alone or before texts such as "log-uniform"."""
    bounds, texts = value[:2], value[2:]
    if len(bounds) < 2 or not all(map(_number, bounds)):
        return False
    if not all(isinstance(t, str) for t in texts):
        return False
    return not texts or any("log" in t.lower() or "uniform" in t.lower() for t in texts)


def _require_several(name: str, p: Parameter) -> None:
    """Raises StudyError if a range or a list has one value."""
    if isinstance(p, (Float, Int)) and _number(p.min) and _number(p.max) and p.min == p.max:
        value = plain(p.min)
    elif isinstance(p, (Categorical, Ordinal)) and len(p.values) == 1:
        value = p.values[0]
    else:
        return
    require_json(value, f'parameter "{name}": values', StudyError)
    if not isinstance(value, (str, int, float)):
        return  # no constant either
    raise StudyError(
        f'parameter "{name}" has only the value {shown(value)}: use Fixed({shown(value)}) for a '
        "constant"
    )


def _number(value: Any) -> bool:
    return isinstance(plain(value), (int, float)) and not isinstance(value, bool)


def _values(values: Any) -> tuple[Any, ...]:
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise StudyError(f"values is {shown(values)}, want a list")
    return tuple(plain(v) for v in values)


def _from_definition(definition: Mapping[str, Any]) -> Parameter:
    kind = _KINDS.get(str(definition.get("type")), Fixed)
    when, given = definition.get("when"), definition.get("given", False)
    if kind is Bool:
        return Bool(when, given)
    if kind is Float or kind is Int:
        keys = {
            key: definition[key] for key in ("log", "step", "when", "given") if key in definition
        }
        return kind(definition.get("min", 0), definition.get("max", 0), **keys)
    if kind is Categorical or kind is Ordinal:
        return kind(definition.get("values", ()), when, given)
    return Fixed(definition.get("value", ""), when)


def _form(kind: str, p: Parameter, **keys: Any) -> dict[str, Any]:
    """Returns the form of the study file."""
    if p.when is not None:
        keys["when"] = p.when
    if getattr(p, "given", False):
        keys["given"] = True
    return {"type": kind, **keys}


def _range(p: Float | Int) -> dict[str, Any]:
    out = {"min": plain(p.min), "max": plain(p.max)}
    if p.log:
        out["log"] = True
    if p.step is not None:
        out["step"] = plain(p.step)
    return out


def _listed(value: Any, values: Sequence[Any]) -> Any:
    """Returns the entry of values that equals value, so that its type is kept."""
    for v in values:
        if v == value and isinstance(v, bool) == isinstance(value, bool):
            return v
    return value


def plain(value: Any) -> Any:
    """Returns the Python number of a NumPy number, and other values unchanged."""
    item = getattr(value, "item", None)
    return item() if callable(item) and getattr(value, "ndim", None) == 0 else value


def shown(value: Any) -> str:
    """Returns a short representation of a value on one line."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 80 else text[:77] + "..."


def require_json(value: Any, place: str, error: type[BoError]) -> None:
    """Raises error if a value has no form in JSON."""
    if isinstance(value, Mapping):
        for key, v in value.items():
            require_json(v, f"{place}: {key}" if place else str(key), error)
    elif isinstance(value, (list, tuple)):
        for v in value:
            require_json(v, place, error)
    elif isinstance(value, float) and not math.isfinite(value):
        raise error(f"{place} is {value}, want a finite number")
    elif not isinstance(value, (str, int, float, type(None))):
        raise error(f"{place} is {shown(value)}, want a number, text or boolean")


def request_point(params: Any) -> Params:
    """Returns the values of a point in the form of a request, or raises RequestError."""
    if not isinstance(params, Mapping):
        raise RequestError(f"the point is {shown(params)}, want values by name")
    point = plain_params(params)
    for name, value in point.items():
        require_json(value, f'parameter "{name}"', RequestError)
    return point


def given_values(given: Any) -> Params:
    """Returns given values in the form of a request, or raises RequestError if there are none."""
    values = request_point(given)
    if not values:
        raise RequestError("given has no values, want values by name")
    return values


def plain_params(params: Mapping[str, Any]) -> Params:
    """Returns a copy of the values of a point without NumPy numbers."""
    return {str(name): plain(value) for name, value in params.items()}
