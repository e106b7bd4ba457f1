"""Search spaces as scikit-learn has them.

Ranges may be distributions of SciPy, and a space may be a list of dictionaries.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ._labels import is_object, labels, same
from ._space import Categorical, Fixed, Float, Int, Ordinal, Params, Space, resembles_range
from .errors import StudyError

_WORD = re.compile(r"'[^']*'|\"[^\"]*\"|\w+")


@dataclass(frozen=True)
class Choices:
    """A search space for `bo`, and the names of its parameters in scikit-learn."""

    space: Space
    _names: dict[str, str] = field(default_factory=dict)  # in set_params, of renamed parameters

    @classmethod
    def of(cls, space: Any) -> Choices:
        """Returns the choices of a space by name, or of a list of such spaces."""
        names: dict[str, str] = {}
        if isinstance(space, Mapping):
            space = _ranges(space)
        elif _branches(space):
            space, names = _merged([_ranges(branch) for branch in space])
        else:
            return cls(space)
        return cls({name: _parameter(given) for name, given in space.items()}, names)

    def params(self, point: Params) -> Params:
        """Returns a point of the space as scikit-learn takes it."""
        return {self._names.get(name, name): value for name, value in point.items()}


def _branches(space: Any) -> bool:
    """Reports whether a space is a list of spaces, and not the parameters of a study file."""
    return (
        isinstance(space, Sequence)
        and len(space) > 0
        and all(isinstance(b, Mapping) for b in space)
        and not all("name" in b and "type" in b for b in space)
    )


def _ranges(space: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a space with ranges in place of distributions of SciPy."""
    return {name: _range(name, given) for name, given in space.items()}


def _range(name: str, given: Any) -> Any:
    """Returns the range of a distribution of SciPy, and other parameters unchanged."""
    kind = getattr(getattr(given, "dist", None), "name", None)
    if kind is None or not hasattr(given, "support"):
        return given
    low, high = given.support()
    if kind == "uniform":
        return Float(float(low), float(high))
    # The logarithm of a reciprocal distribution that is shifted is not uniform.
    if kind in ("loguniform", "reciprocal") and math.isclose(given.mean(), _log_mean(low, high)):
        return Float(float(low), float(high), log=True)
    if kind == "randint":
        return Int(int(low), int(high))
    raise StudyError(
        f"parameter {name!r} has the distribution {kind} of SciPy: want uniform, randint, "
        "loguniform without loc, or a range such as Float(1e-3, 1e3, log=True)"
    )


def _log_mean(low: float, high: float) -> float:
    """Returns the mean of a number between two bounds whose logarithm is uniform."""
    return float(high - low) / math.log(high / low)


def _values(given: Any) -> list[Any] | None:
    """Returns the choices of a parameter, or None if it is a range or bo reports a fault."""
    if isinstance(given, (Categorical, Ordinal)):
        return list(given.values)
    if isinstance(given, Fixed):
        return [given.value]
    if isinstance(given, tuple) and resembles_range(given):
        return None
    if getattr(given, "ndim", 0) == 1:
        return list(given.tolist())
    if isinstance(given, Sequence) and not isinstance(given, (str, bytes)):
        return list(given)
    return None


def _parameter(given: Any) -> Any:
    """Returns the parameter of a list, a constant for one value, and other entries unchanged."""
    values = _values(given)
    if values is None or isinstance(given, (Categorical, Ordinal, Fixed)):
        return given
    return Fixed(values[0]) if len(values) == 1 else Categorical(values)


def _merged(branches: Sequence[Mapping[str, Any]]) -> tuple[dict[str, Any], dict[str, str]]:
    """Returns one space for several, and the names of renamed parameters in set_params.

    The parameter that tells the spaces apart becomes a choice. A parameter of one space has a
    condition. A parameter that several spaces define alike stays one parameter, unless it belongs
    to the objects of the choice, as svm__C belongs to svm.
    """
    if len(branches) == 1:
        return dict(branches[0]), {}
    selector = _selector(branches)
    listed = [_values(b[selector]) or [] for b in branches]
    texts = labels([v for values in listed for v in values])
    space: dict[str, Any] = {selector: [v for values in listed for v in values]}
    own: list[list[Any]] = []  # texts of each branch
    for values in listed:
        own.append(texts[: len(values)])
        texts = texts[len(values) :]
    suffixes = ["_".join(re.findall(r"\w+", str(t[0]))) for t in own]
    if len(set(suffixes)) < len(branches):
        suffixes = [str(i) for i in range(1, len(branches) + 1)]
    groups: dict[str, dict[str, list[int]]] = {}  # branches by name and definition
    for i, b in enumerate(branches):
        for name, given in b.items():
            if name != selector:
                key = f"{i}" if name.startswith(f"{selector}__") else repr(given)
                groups.setdefault(name, {}).setdefault(key, []).append(i)
    renamed = _renamed(groups, suffixes)
    for name, variants in groups.items():
        for members in variants.values():
            i, condition = members[0], ""
            if len(members) < len(branches):
                condition = _condition(selector, [t for j in members for t in own[j]])
            space[renamed[i].get(name, name)] = _conditioned(
                branches[i][name], condition, renamed[i]
            )
    return space, {new: name for own in renamed for name, new in own.items()}


def _renamed(
    groups: Mapping[str, Mapping[str, list[int]]], suffixes: Sequence[str]
) -> list[dict[str, str]]:
    """Returns the new names of the parameters that several branches define differently."""
    renamed: list[dict[str, str]] = [{} for _ in suffixes]
    taken = set(groups)
    for name, variants in groups.items():
        for members in variants.values() if len(variants) > 1 else ():
            new = f"{name}_{suffixes[members[0]]}"
            while new in taken:
                new += "_"
            taken.add(new)
            for i in members:
                renamed[i][name] = new
    return renamed


def _selector(branches: Sequence[Mapping[str, Any]]) -> str:
    """Returns the first parameter that has other choices in each space."""
    for name in branches[0]:
        listed = [_values(b[name]) for b in branches if name in b]
        if len(listed) == len(branches) and all(listed) and _disjoint(listed):
            return name
    raise StudyError(
        "no parameter tells the dictionaries of the space apart: give each dictionary other values "
        'of one parameter, such as "model": [SVC()] and "model": [LogisticRegression()]'
    )


def _disjoint(listed: Iterable[list[Any] | None]) -> bool:
    seen: list[Any] = []
    for values in listed:
        for v in values or ():
            if any(same(v, s) or (not (is_object(v) or is_object(s)) and v == s) for s in seen):
                return False
        seen += values or ()
    return True


def _conditioned(given: Any, condition: str, renamed: Mapping[str, str]) -> Any:
    """Returns a parameter with a further condition."""
    p = _parameter(given)
    if not hasattr(p, "when"):
        p = Fixed(p)
    if not p.when:
        return replace(p, when=condition or None)
    own = _WORD.sub(lambda m: renamed.get(m[0], m[0]), p.when)
    return replace(p, when=f"({condition}) and ({own})" if condition else own)


def _condition(name: str, values: Sequence[Any]) -> str:
    """Returns the condition that a parameter has one of some values."""
    if not re.fullmatch(r"[A-Za-z_]\w*", name):
        name = f"param[{json.dumps(name, ensure_ascii=False)}]"
    texts = [json.dumps(v, ensure_ascii=False) for v in values]
    return f"{name} == {texts[0]}" if len(texts) == 1 else f"{name} in [{', '.join(texts)}]"
