"""Trials, and the result of a run."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, SupportsFloat, SupportsIndex, TypedDict

from ._labels import fresh, plain
from ._outcomes import Outcomes, as_int
from .errors import TrialError

if TYPE_CHECKING:
    import pandas

    from ._html import HTMLReport
    from ._reporter import Reporter
    from ._space import Parameters, Params

State = Literal["pending", "complete", "failed", "stopped"]

_COLUMNS = ("trial", "value", "state", "seconds", "message")


class Selection(TypedDict):
    """The surrogate model that auto selected, with the evidence in nats and its standard error.

    For several objectives surrogate names the model of each,
    as in "gp for yield, fsp-laplace for cost". The evidence then stands in reason alone.
    """

    surrogate: str
    reason: str
    evidence: float
    deviation: float


@dataclass(frozen=True)
class Prediction:
    """The prediction of the surrogate model before a trial was evaluated.

    Only the surrogate model auto has a selection. If the values were log transformed, the mean
    is the median, and sd half the length of the central 68 % interval. interval then is the central
    95 % interval, else None.
    """

    mean: float | None = None
    sd: float | None = None
    acquisition: float | None = None
    selection: Selection | None = None
    interval: list[float] | None = None


class Step(NamedTuple):
    """The value of the objective at a step of an evaluation, such as an epoch."""

    step: float
    value: float


@dataclass(frozen=True)
class Trial:
    """One evaluation of the objective, finished or not."""

    number: int
    params: dict[str, Any]
    state: State = "pending"
    """pending, complete, failed, or stopped early."""
    value: float | None = None
    """The value of the objective; None unless complete, and None for several objectives."""
    numbers: dict[str, float] = field(default_factory=dict)
    """All reported numbers, the objectives among them."""
    message: str = ""
    """The reason why the trial failed or was stopped, or the texts of its result."""
    source: str = "suggested"
    """suggested, design (of the initial design), enqueued or added."""
    prediction: Prediction | None = None
    warnings: tuple[str, ...] = ()
    seconds: float = 0.0
    """Time of the evaluation in a run."""
    feasible: bool | None = None
    """Whether a complete trial meets all of `require`; None without requirements."""
    lost: bool = False
    """Whether a failed trial is left out of fits: the reason is not its parameters."""
    steps: tuple[Step, ...] = ()
    """The values that were reported while the trial ran.

    In a stored study only the trials of StoredStudy.trials have them."""
    _labels: dict[str, str] = field(default_factory=dict, compare=False, repr=False)
    _reporter: Reporter | None = field(default=None, compare=False, repr=False)

    def __repr__(self) -> str:
        """Returns the fields that have no default value, and the number of steps."""
        shown = {"number": self.number, "params": self.params, "state": self.state}
        for name in ("value", "numbers", "message", "source", "prediction", "warnings"):
            if getattr(self, name) not in (None, {}, "", ()):
                shown[name] = getattr(self, name)
        if self.seconds:
            shown["seconds"] = float(f"{self.seconds:.3g}")
        if self.feasible is not None:
            shown["feasible"] = self.feasible
        if self.lost:
            shown["lost"] = True
        parts = [f"{name}={value!r}" for name, value in shown.items()]
        if self.steps:
            parts.append(f"<{len(self.steps)} steps>")
        return f"Trial({', '.join(parts)})"

    def report(self, step: SupportsFloat, value: SupportsFloat) -> bool:
        """Reports the value of the objective at a step, such as an epoch, of a running trial.

        Returns whether the rule in the option `stop` has stopped the trial; the evaluation
        should then end. A step that was reported before changes nothing. NaN and infinities
        are worse than every number. For trials that ask returned, and in functions that
        minimize evaluates.
        """
        if self._reporter is None:
            raise TrialError(f"trial {self.number} is not being evaluated: use Study.report")
        if isinstance(value, Integral) and isinstance(step, Real) and step % 1 != 0:
            warnings.warn(
                "report(step, value) has a fraction as the step and a whole number as the value: "
                "the step comes first, unlike in Optuna",
                stacklevel=2,
            )
        return self._reporter.report(step, value)

    def should_stop(self) -> bool:
        """Reports whether a report has stopped the trial."""
        return self._reporter is not None and self._reporter.stopped

    def copy(self) -> Trial:
        """Returns a trial whose params and numbers may be changed without effect on this one."""
        params = {name: fresh(v) for name, v in self.params.items()}
        return replace(self, params=params, numbers=dict(self.numbers))

    def labelled(self) -> Params:
        """Returns the parameters in the form of a request, with labels in place of objects."""
        return {**{name: plain(v) for name, v in self.params.items()}, **self._labels}

    def record(self) -> dict[str, Any]:
        """Returns the keys of `bo trials --json` that the trial has.

        Labels stand for choices that are no number, text or boolean.
        """
        out: dict[str, Any] = {
            "trial": self.number,
            "params": {**self.params, **self._labels},
            "value": self.value,
            "state": self.state,
            "source": self.source,
            "seconds": self.seconds,
        }
        if self.numbers:
            out["numbers"] = dict(self.numbers)
        if self.feasible is not None:
            out["feasible"] = self.feasible
        if self.lost:
            out["failure"] = "lost"
        if self.message:
            out["message"] = self.message
        if self.steps:
            out["steps"] = [s._asdict() for s in self.steps]
        return out


@dataclass(frozen=True)
class Estimate:
    """A trial with the posterior mean and standard deviation of the objective."""

    trial: Trial
    mean: float
    sd: float
    feasible: float | None = None
    """The probability that the point meets all of `require`; None without requirements."""


@dataclass(frozen=True)
class GivenEstimate:
    """A point with given values, and the posterior mean and standard deviation of the objective.

    Its other values come from a trial.
    """

    params: dict[str, Any]
    trial: Trial
    mean: float
    sd: float
    feasible: float | None = None
    """The probability that the point meets all of `require`; None without requirements."""


@dataclass(frozen=True)
class FrontEstimate:
    """A trial with the posterior means and standard deviations of several objectives, by name."""

    trial: Trial
    mean: dict[str, float]
    sd: dict[str, float]
    feasible: float | None = None
    """The probability that the point meets all of `require`; None without requirements."""


@dataclass(frozen=True)
class PointPrediction:
    """The predictions of the objectives and of the numbers of `require` at a point, by name.

    After a log transform of the values, mean is the median, and sd half the length of the
    central 68 % interval."""

    params: dict[str, Any]
    mean: dict[str, float]
    sd: dict[str, float]
    interval: dict[str, tuple[float, float]]
    """The central 95 % interval of the function."""
    measured: dict[str, tuple[float, float]]
    """The central 95 % interval of a measurement, which has noise."""
    feasible: float | None = None
    """The probability that the point meets all of `require`; None without requirements."""


@dataclass(frozen=True)
class Recommendation:
    """The trial with the best observed value and the trial with the best posterior mean.

    Under noise a best observed value is partly luck, and model is the better choice.
    """

    observed: Estimate
    model: Estimate


@dataclass(frozen=True)
class Pareto:
    """The feasible trials of a study with several objectives that no other trial dominates."""

    front: list[Trial]
    """In the order of their numbers."""
    reference: dict[str, float]
    """The reference point, by objective: stated, or beyond the worst values on the front."""
    hypervolume: list[float]
    """The volume between front and reference point after each finished trial.

    Empty above four objectives."""
    model: list[FrontEstimate] | None = None
    """The front of the posterior means; None unless pareto was asked for it.

    Under noise an observed value is partly luck, and model is the better choice."""


@dataclass(repr=False)
class Result:
    """The result of a run."""

    trials: list[Trial]
    """The trials of the study, without those at the end that wait for their evaluation."""
    outcomes: Outcomes = field(default_factory=Outcomes)
    recommendation: Recommendation | None = None
    """None if the run was interrupted, no trial is complete, or there are several objectives."""
    pareto: Pareto | None = None
    """The Pareto front, with model unless the run was interrupted; None for one objective."""
    warnings: list[str] = field(default_factory=list)
    interrupted: bool = False
    """Ctrl-C ended the run."""
    stopped: str = ""
    """The reason why the run ended ahead of the budget, or empty."""
    definition: dict[str, Any] = field(default_factory=dict)
    """The definition of the study in the form of the study file."""

    def __repr__(self) -> str:
        if self.outcomes.several:
            front = [] if self.pareto is None else self.pareto.front
            return f"<Result of {len(self.trials)} trials: {len(front)} on the Pareto front>"
        best = self.outcomes.best(self.trials)
        what = "no value" if best is None else f"best {best.value:.6g} at {best.params}"
        return f"<Result of {len(self.trials)} trials: {what}>"

    def _repr_html_(self) -> str:
        from ._html import summary

        best = None if self.outcomes.several else self.outcomes.best(self.trials)
        return summary(self.definition.get("name") or "study", self.trials, self.outcomes, best)

    def html_report(self) -> HTMLReport:
        """Returns a page with pictures of the study and its surrogate model.

        A notebook shows it; HTMLReport.save writes it to a file.
        """
        from ._html import report

        return report(self.definition, self.trials)

    @property
    def goal(self) -> str:
        """The direction of the first objective, minimize or maximize."""
        return self.outcomes.goal

    @property
    def best(self) -> Trial:
        """The feasible trial with the best observed value.

        If no trial is feasible, it is the trial that violates the requirements least.
        Raises NoValueError if no trial is complete, RequestError if there are several objectives.
        """
        return self.outcomes.require_best(self.trials)

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
            if self.outcomes.best([*out[-1:], t]) is t:
                out.append(t)
        return out

    def records(self) -> list[dict[str, Any]]:
        """Returns the trials as dictionaries."""
        return [t.record() for t in self.trials]

    def dataframe(self) -> pandas.DataFrame:
        """Returns the trials as a pandas data frame with a column for each parameter."""
        return frame(self.trials, self.outcomes)


def front_estimates(
    rows: Iterable[Mapping[str, Any]], trials: Sequence[Trial]
) -> list[FrontEstimate]:
    """Returns the estimates of an answer of `bo`."""
    return [
        FrontEstimate(trials[e["trial"] - 1], e["mean"], e["sd"], e.get("feasible")) for e in rows
    ]


def given_estimate(
    row: Mapping[str, Any],
    trials: Sequence[Trial],
    parameters: Parameters,
) -> GivenEstimate:
    """Returns the estimate for given values of an answer of `bo`."""
    of = trials[row["trial"] - 1]
    point = parameters.decode(row["params"])
    return GivenEstimate(point, of, row["mean"], row["sd"], row.get("feasible"))


def trial_of(
    parameters: Parameters, number: int, point: Mapping[str, Any], *fields: Any, **named: Any
) -> Trial:
    """Returns a trial at a point that is in the form of a request."""
    trial = Trial(number, parameters.decode(point), *fields, **named)
    return replace(trial, _labels=parameters.labels(point))


def number_of(trial: Trial | SupportsIndex) -> int:
    """Returns the number of a trial, or raises TrialError."""
    return trial.number if isinstance(trial, Trial) else as_int(trial, "trial")


def frame(trials: Sequence[Trial], outcomes: Outcomes) -> pandas.DataFrame:
    """Returns trials as a data frame with the columns of `bo trials --format csv`.

    Several objectives have a column each, and value is left out. A parameter that not every trial
    has keeps its type: its column is a nullable one, Int64 or boolean. Labels stand for objects.
    """
    import pandas

    names = list(dict.fromkeys(name for t in trials for name in t.params))
    numbers = list(dict.fromkeys([*outcomes.declared, *(n for t in trials for n in t.numbers)]))
    if not outcomes.several:
        numbers.remove(outcomes.goals[0].name)  # it is in the column value
    columns: dict[str, list[Any]] = {"trial": [t.number for t in trials]}
    for name in names:
        column = f"params.{name}" if name in _COLUMNS or name in numbers else name
        columns[column] = _column([t._labels.get(name, t.params.get(name)) for t in trials])
    if not outcomes.several:
        columns["value"] = [t.value for t in trials]
    for name in numbers:
        columns[f"numbers.{name}" if name in _COLUMNS else name] = [
            t.numbers.get(name) for t in trials
        ]
    for key in _COLUMNS[2:]:
        columns[key] = [getattr(t, key) for t in trials]
    return pandas.DataFrame(columns)


def _column(values: list[Any]) -> Any:
    """Returns the values of a parameter. An array of pandas keeps whole numbers beside None."""
    import pandas

    if None in values:
        for kind, dtype in ((bool, "boolean"), (int, "Int64")):
            if {type(v) for v in values} == {kind, type(None)}:
                return pandas.array(values, dtype=dtype)
    return values
