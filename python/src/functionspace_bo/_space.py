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
from functools import cached_property
from typing import Any

from ._labels import fresh, is_object, label_of, labels, plain, shown, value_of
from .errors import BoError, RequestError, StudyError

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
    """One of values, which have no order.

    Values are numbers, texts, booleans, None, tuples, lists or other objects. In the study file, in
    tables and in conditions, a label stands for an object: None, (64, 32), or the name of a class.
    """

    values: Sequence[Any]
    when: str | None = None
    given: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", _values(self.values))

    @cached_property
    def _labels(self) -> list[Any]:
        return labels(self.values)

    def definition(self) -> dict[str, Any]:
        """Returns the form of the study file, without the name."""
        return _form("categorical", self, values=list(self._labels))

    def decode(self, value: Any) -> Any:
        """Returns the value of a point that `bo` suggests."""
        return value_of(value, self.values, self._labels)

    def encode(self, value: Any) -> Any:
        """Returns a value in the form of a request to `bo`: the label of an object."""
        return label_of(value, self.values, self._labels)


@dataclass(frozen=True)
class Ordinal:
    """One of values, which are ordered. Values are as for Categorical."""

    values: Sequence[Any]
    when: str | None = None
    given: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", _values(self.values))

    @cached_property
    def _labels(self) -> list[Any]:
        return labels(self.values)

    def definition(self) -> dict[str, Any]:
        """Returns the form of the study file, without the name."""
        return _form("ordinal", self, values=list(self._labels))

    def decode(self, value: Any) -> Any:
        """Returns the value of a point that `bo` suggests."""
        return value_of(value, self.values, self._labels)

    def encode(self, value: Any) -> Any:
        """Returns a value in the form of a request to `bo`: the label of an object."""
        return label_of(value, self.values, self._labels)


@dataclass(frozen=True)
class Fixed:
    """A value that is passed to the objective and not searched. It is as for Categorical."""

    value: Any
    when: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", plain(self.value))

    @cached_property
    def _labels(self) -> list[Any]:
        return labels([self.value])

    def definition(self) -> dict[str, Any]:
        """Returns the form of the study file, without the name."""
        return _form("fixed", self, value=self._labels[0])

    def decode(self, value: Any) -> Any:
        """Returns the value of a point that `bo` suggests."""
        return fresh(self.value)

    def encode(self, value: Any) -> Any:
        """Returns a value in the form of a request to `bo`: the label of an object."""
        return label_of(value, [self.value], self._labels)


Parameter = Float | Int | Bool | Categorical | Ordinal | Fixed

_CHOICES = (Categorical, Ordinal, Fixed)

Space = Mapping[str, object] | Sequence[Mapping[str, object]]
"""A search space: parameters by name, or the list of `parameters` of a study file.

By name, each entry is a Parameter; a list or tuple of values stands for Categorical, and a single
value for Fixed. A tuple of two numbers is an error, because it could be a range, and so is one that
ends with texts, such as (1e-5, 0.1, "log"). A choice may be any object; see Categorical.
"""

_KINDS: dict[str, type[Parameter]] = {
    "float": Float,
    "int": Int,
    "bool": Bool,
    "categorical": Categorical,
    "ordinal": Ordinal,
    "fixed": Fixed,
}


class Parameters(dict[str, Parameter]):
    """Parameters by name, and the values of points in Python and in the form of requests.

    In requests, in stores and in files, labels stand for objects.
    """

    def decode(self, point: Mapping[str, Any]) -> Params:
        """Returns the values of a point that `bo` returned."""
        return {name: self[name].decode(v) if name in self else v for name, v in point.items()}

    def labels(self, point: Mapping[str, Any]) -> dict[str, str]:
        """Returns the labels in a point that `bo` returned."""
        return {
            name: v
            for name, v in point.items()
            if isinstance(p := self.get(name), _CHOICES) and is_object(p.decode(v))
        }

    def encode(self, point: Mapping[str, Any]) -> Params:
        """Returns a point with labels in place of objects, and without NumPy numbers."""
        return {
            str(name): p.encode(v) if isinstance(p := self.get(name), _CHOICES) else plain(v)
            for name, v in point.items()
        }

    def request(self, point: Any) -> Params:
        """Returns a point in the form of a request, or raises RequestError."""
        if not isinstance(point, Mapping):
            raise RequestError(f"the point is {shown(point)}, want values by name")
        encoded = self.labelled(point, "", RequestError)
        for name, value in encoded.items():
            require_json(value, f'parameter "{name}"', RequestError)
        return encoded

    def labelled(self, point: Mapping[str, Any], place: str, error: type[BoError]) -> Params:
        """Returns an encoded point, or raises error for an object that is no choice."""
        encoded = self.encode(point)
        for name, value in encoded.items():
            p = self.get(name)
            if not isinstance(p, (Categorical, Ordinal)) or (value is None and p.when):
                continue  # an inactive parameter may have None
            if is_object(value):
                known = ", ".join(map(str, p._labels))
                raise error(f'{place}parameter "{name}" is {shown(value)}, want one of {known}')
        return encoded

    def given(self, given: Any) -> Params:
        """Returns given values in the form of a request, or raises RequestError for none."""
        values = self.request(given)
        if not values:
            raise RequestError("given has no values, want values by name")
        return values

    def declared(self, space: Space | None) -> Parameters:
        """Returns these parameters with the objects of a space, which has them too."""
        others = {} if space is None else parse_space(space)[1]
        out = Parameters(self)
        for name, p in self.items():
            other = others.get(name)
            if isinstance(other, _CHOICES) and type(other) is type(p):
                if isinstance(p, Fixed) and other.definition() != p.definition():
                    continue
                out[name] = other
        return out


def parse_space(space: Space) -> tuple[list[dict[str, Any]], Parameters]:
    """Returns the parameters of a space in the form of the study file, and by name."""
    if not isinstance(space, Mapping):
        if not isinstance(space, Sequence) or not all(isinstance(p, Mapping) for p in space):
            raise StudyError(f"the space is {shown(space)}, want parameters by name")
        definitions = [dict(p) for p in space]
        return definitions, Parameters(
            {str(p.get("name")): _from_definition(p) for p in definitions}
        )
    parameters = Parameters({name: _parameter(name, value) for name, value in space.items()})
    for name, p in parameters.items():
        _require_several(name, p)
        if callable(p.when):
            raise StudyError(
                f'parameter "{name}": when is {shown(p.when)}, want a text such as '
                "\"optimizer == 'sgd'\""
            )
        if isinstance(p, _CHOICES):
            _check_choices(name, [p.value] if isinstance(p, Fixed) else p.values)
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
    if value is not None and not isinstance(plain(value), (str, int, float)):
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


def _check_choices(name: str, values: Sequence[Any]) -> None:
    """Raises StudyError for choices that have no label of their own, and for nested parameters."""
    for v in values:
        inner = v.values() if isinstance(v, Mapping) else [v]
        if any(isinstance(i, Parameter) for i in inner):
            raise StudyError(
                f'parameter "{name}": a choice is {shown(v)}, want a value: a parameter of one '
                "choice stands beside it, with when="
            )
    for v, label in zip(values, labels(values), strict=True):
        if is_object(v) and label in [t for t in values if isinstance(t, str)]:
            raise StudyError(
                f'parameter "{name}": the choices {shown(v)} and {label!r} have one label in '
                "stores and tables: use another text"
            )


def _require_several(name: str, p: Parameter) -> None:
    """Raises StudyError if a range or a list has one value."""
    if isinstance(p, (Float, Int)) and _number(p.min) and _number(p.max) and p.min == p.max:
        value = plain(p.min)
    elif isinstance(p, (Categorical, Ordinal)) and len(p.values) == 1:
        value = p.values[0]
    else:
        return
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
