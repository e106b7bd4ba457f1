"""Values of the objective."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ._space import plain, shown
from .errors import TrialError

MAX_VALUE = 1e300
"""The largest magnitude of a value, as in `bo`."""


def read_value(value: Any, objective: str) -> tuple[float, dict[str, float]]:
    """Returns the value of the objective and all numbers of a report, or raises TrialError."""
    if not isinstance(value, Mapping):
        number = _number(value)
        return number, {objective: number}
    numbers = {str(name): _number(v) for name, v in value.items()}
    if objective not in numbers:
        raise TrialError(f'there is no number named "{objective}"')
    return numbers[objective], numbers


def _number(value: Any) -> float:
    try:
        if isinstance(value, (str, bytes)) or getattr(value, "ndim", 0) != 0:
            raise TypeError
        number = float(plain(value))
    except (TypeError, ValueError, OverflowError):
        raise TrialError(f"the value is {shown(value)}, want a number") from None
    if math.isnan(number) or abs(number) > MAX_VALUE:
        raise TrialError(f"value is not a usable number: {number}")
    return number
