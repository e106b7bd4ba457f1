"""Labels: texts that stand for choices such as None and (64, 32) in studies and tables.

A study file has numbers, texts and booleans. Every other choice has a label there.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def plain(value: Any) -> Any:
    """Returns the Python number of a NumPy number, and other values unchanged."""
    item = getattr(value, "item", None)
    return item() if callable(item) and getattr(value, "ndim", None) == 0 else value


def shown(value: Any) -> str:
    """Returns a short representation of a value on one line."""
    text = " ".join(_repr(value).split())
    return text if len(text) <= 80 else text[:77] + "..."


def _repr(value: Any) -> str:
    """Is repr with the elements of sets in order, which repr writes in the order of hashes."""
    kind = type(value)
    if kind is dict:
        return "{" + ", ".join(f"{key!r}: {_repr(v)}" for key, v in value.items()) + "}"
    if kind in (list, tuple):
        texts = ", ".join(map(_repr, value))
        return f"[{texts}]" if kind is list else f"({texts}{',' * (len(value) == 1)})"
    if kind in (set, frozenset) and value:
        texts = ", ".join(sorted(map(_repr, value), key=lambda t: (len(t), t)))  # 2 before 10
        return f"{{{texts}}}" if kind is set else f"frozenset({{{texts}}})"
    return repr(value)


def is_object(value: Any) -> bool:
    """Reports whether a value has no form in a study file."""
    value = plain(value)
    return not isinstance(value, (str, int, float)) or (
        isinstance(value, float) and not math.isfinite(value)
    )


def labels(values: Sequence[Any]) -> list[Any]:
    """Returns the label of each object, and other values unchanged.

    The label is the name of a class or a function if no other choice has it, or else the
    representation of the object, without an address. Equal choices have equal labels.
    """
    names = [_name(v) if is_object(v) else v for v in values]
    found: list[Any] = []
    for i, (value, name) in enumerate(zip(values, names, strict=True)):
        twins = [found[j] for j in range(i) if same(values[j], value)]
        if twins or not is_object(value):
            found.append(twins[0] if twins else value)
            continue
        label = name
        if any(n == name and not same(v, value) for v, n in zip(values, names, strict=True)):
            label = _represented(value)
        taken = [t for v, t in zip(values[:i], found, strict=True) if is_object(v)]
        first, n = label, 1
        while label in taken or (label in names and label != name):
            n += 1
            label = f"{first} {n}"
        found.append(label)
    return found


def label_of(value: Any, values: Sequence[Any], known: Sequence[Any]) -> Any:
    """Returns the label of one of some values, given their labels, and other values unchanged."""
    value = plain(value)
    if is_object(value):
        for v, label in zip(values, known, strict=True):
            if same(v, value):
                return label
    return value


def value_of(label: Any, values: Sequence[Any], known: Sequence[Any]) -> Any:
    """Returns the value that has a label, so that its type is kept, and other texts unchanged."""
    for v, text in zip(values, known, strict=True):
        if text == label and isinstance(text, bool) == isinstance(label, bool):
            return fresh(v)
    return label


def fresh(value: Any) -> Any:
    """Returns a copy of a container with the same objects in it, and other values unchanged."""
    if type(value) is dict:
        return {key: fresh(v) for key, v in value.items()}
    return type(value)(map(fresh, value)) if type(value) in (list, tuple, set) else value


def same(a: Any, b: Any) -> bool:
    """Reports whether two choices are equal. Arrays equal only themselves, and NaN equals NaN."""
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if isinstance(a, float) and math.isnan(a):
        return math.isnan(b)
    try:
        return bool(a == b)
    except Exception:  # an array has no truth value
        return False


def _name(value: Any) -> str:
    if hasattr(value, "get_params") and not isinstance(value, type):
        return type(value).__name__
    return str(getattr(value, "__name__", None) or _represented(value))


def _represented(value: Any) -> str:
    return _ADDRESS.sub("", shown(value))
