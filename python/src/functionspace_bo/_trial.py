"""Trials, and the result of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from .errors import NoValueError

if TYPE_CHECKING:
    import pandas

State = Literal["pending", "complete", "failed"]

_COLUMNS = ("trial", "value", "state", "seconds", "message")


@dataclass(frozen=True)
class Prediction:
    """The prediction of the surrogate model before a trial was evaluated."""

    mean: float | None = None
    sd: float | None = None
    acquisition: float | None = None


@dataclass(frozen=True)
class Trial:
    """One evaluation of the objective, finished or not."""

    number: int
    params: dict[str, Any]
    state: State = "pending"
    value: float | None = None
    numbers: dict[str, float] = field(default_factory=dict)
    """All reported numbers, the objective among them."""
    message: str = ""
    """The reason why the trial failed."""
    source: str = "suggested"
    """suggested, design (of the initial design), enqueued or added."""
    prediction: Prediction | None = None
    warnings: tuple[str, ...] = ()
    seconds: float = 0.0
    """Time of the evaluation in a run."""

    def copy(self) -> Trial:
        """Returns a trial whose params and numbers may be changed without effect on this one."""
        return replace(self, params=dict(self.params), numbers=dict(self.numbers))

    def record(self) -> dict[str, Any]:
        """Returns the keys of `bo trials --json` that the trial has."""
        out: dict[str, Any] = {
            "trial": self.number,
            "params": dict(self.params),
            "value": self.value,
            "state": self.state,
            "source": self.source,
            "seconds": self.seconds,
        }
        if self.numbers:
            out["numbers"] = dict(self.numbers)
        if self.message:
            out["message"] = self.message
        return out


@dataclass(frozen=True)
class Estimate:
    """A trial with the posterior mean and standard deviation of the objective."""

    trial: Trial
    mean: float
    sd: float


@dataclass(frozen=True)
class Recommendation:
    """The trial with the best observed value and the trial with the best posterior mean.

    Under noise a best observed value is partly luck, and model is the better choice.
    """

    observed: Estimate
    model: Estimate


@dataclass(repr=False)
class Result:
    """The result of a run."""

    trials: list[Trial]
    goal: str = "minimize"
    recommendation: Recommendation | None = None
    """None if the run was interrupted or no trial is complete."""
    warnings: list[str] = field(default_factory=list)
    interrupted: bool = False
    """Ctrl-C ended the run."""
    stopped: str = ""
    """The reason why the run ended ahead of the budget, or empty."""

    def __repr__(self) -> str:
        best = best_trial(self.trials, self.goal)
        what = "no value" if best is None else f"best {best.value:.6g} at {best.params}"
        return f"<Result of {len(self.trials)} trials: {what}>"

    @property
    def best(self) -> Trial:
        """The trial with the best observed value. Raises NoValueError if there is none."""
        found = best_trial(self.trials, self.goal)
        if found is None:
            raise NoValueError("no trial has a value")
        return found

    @property
    def params(self) -> dict[str, Any]:
        """The parameters of the best trial."""
        return self.best.params

    @property
    def value(self) -> float:
        """The value of the best trial."""
        value = self.best.value
        assert value is not None  # the trial is complete
        return value

    @property
    def incumbents(self) -> list[Trial]:
        """The trials that were better than all trials before them."""
        out: list[Trial] = []
        for t in self.trials:
            if best_trial([*out[-1:], t], self.goal) is t:
                out.append(t)
        return out

    def records(self) -> list[dict[str, Any]]:
        """Returns the trials as dictionaries."""
        return [t.record() for t in self.trials]

    def dataframe(self) -> pandas.DataFrame:
        """Returns the trials as a pandas data frame with a column for each parameter."""
        return frame(self.trials)


def best_trial(trials: Sequence[Trial], goal: str) -> Trial | None:
    """Returns the complete trial with the best value, the first of equals."""
    best: Trial | None = None
    sign = -1.0 if goal == "maximize" else 1.0
    for t in trials:
        if t.value is None or t.state != "complete":
            continue
        if best is None or best.value is None or sign * t.value < sign * best.value:
            best = t
    return best


def frame(trials: Sequence[Trial]) -> pandas.DataFrame:
    """Returns trials as a data frame with the columns of `bo trials --format csv`."""
    import pandas

    names = list(dict.fromkeys(name for t in trials for name in t.params))
    columns: dict[str, list[Any]] = {"trial": [t.number for t in trials]}
    for name in names:
        column = f"params.{name}" if name in _COLUMNS else name
        columns[column] = [t.params.get(name) for t in trials]
    for key in _COLUMNS[1:]:
        columns[key] = [getattr(t, key) for t in trials]
    return pandas.DataFrame(columns)
