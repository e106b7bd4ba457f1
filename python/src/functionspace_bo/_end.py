"""Conditions that end a run before its budget is used up."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._trial import Trial

_VALUES = 4  # new values between two estimates of the regret
_PATIENCE = 2  # estimates in a row that end a run


class End:
    """The conditions of a run: its arguments, and the key `end` of the study.

    An argument takes the place of the key.
    """

    def __init__(
        self,
        stated: Mapping[str, Any],
        limits: Mapping[str, Any],
        *,
        target: float | None,
        seconds: float | None,
        max_failures: int | None,
    ) -> None:
        self.target: float | None = stated.get("target") if target is None else target
        self.max_failures: int | None = (
            stated.get("max_failures") if max_failures is None else max_failures
        )
        self._seconds: float | None = limits.get("seconds") if seconds is None else seconds
        self._deadline = None if self._seconds is None else time.monotonic() + self._seconds
        self._cost: str = limits.get("cost", "")
        self._most: float = limits.get("most", 0.0)
        self._estimated = 0  # values at the last estimate of the regret
        self._small = 0  # estimates in a row within the limit

    def late(self) -> str:
        """Returns the reason if the time is used up."""
        if self._deadline is None or time.monotonic() < self._deadline:
            return ""
        return f"the time is used up: {self._seconds:g} s"

    def spent(self, trials: Sequence[Trial]) -> str:
        """Returns the reason if the cost is used up."""
        cost, finished = self._spent(trials)
        if not self._cost or cost < self._most:
            return ""
        return (
            f"the cost is used up: {self._cost} is {cost:.4g} of {self._most:.4g} "
            f"after {finished} trials"
        )

    def affordable(self, trials: Sequence[Trial], running: int) -> bool:
        """Reports whether the running trials, at the mean cost, leave cost for another."""
        cost, finished = self._spent(trials)
        return not self._cost or cost + running * cost / max(finished, 1) < self._most

    def _spent(self, trials: Sequence[Trial]) -> tuple[float, int]:
        finished = [t for t in trials if t.source != "added" and t.state != "pending"]
        return sum(t.numbers.get(self._cost, 0.0) for t in finished), len(finished)

    def certain(self, regret: Mapping[str, Any] | None, values: int) -> str:
        """Returns the reason if the regret is small by two estimates in a row."""
        if regret is None or (self._estimated and values < self._estimated + _VALUES):
            return ""
        self._estimated = values
        self._small = self._small + 1 if regret["end"] else 0
        if self._small < _PATIENCE:
            return ""
        return (
            f"the regret is small enough: trial {regret['trial']} is at most "
            f"{regret['bound']:.3g} from the optimum with probability {regret['probability']}"
        )
