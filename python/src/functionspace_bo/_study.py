"""A study in memory: ask, tell, fail, save and load."""

from __future__ import annotations

import json
import math
import os
import re
import secrets
import shutil
import threading
import warnings
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, SupportsFloat, SupportsIndex, overload

from ._binary import known
from ._channel import Channel
from ._definition import define, is_noise_free, normalized, read_file
from ._documented import with_options
from ._html import HTMLReport, copied, report, summary
from ._outcomes import (
    Outcomes,
    Value,
    as_count,
    as_float,
    read_note,
    read_numbers,
    usable,
    warn_unread,
)
from ._predict import points_of, predictions
from ._process import on_fork
from ._reporter import LocalReporter
from ._space import Fixed, Params, Space, parse_space
from ._trial import (
    Estimate,
    GivenEstimate,
    Pareto,
    PointPrediction,
    Prediction,
    Recommendation,
    Result,
    Step,
    Trial,
    frame,
    front_estimates,
    given_estimate,
    number_of,
    trial_of,
)
from .errors import (
    ExhaustedError,
    NoValueError,
    ProcessError,
    RequestError,
    StudyError,
    TrialError,
)

if TYPE_CHECKING:
    import pandas
    from typing_extensions import Unpack

    from ._options import Options
    from ._store import StoredStudy

_FORMAT = "functionspace-bo-study"
_OF_REQUEST = "invalid request: "
_QUEUED = re.compile(r"queued point \d+ of \d+: ")


@with_options()
class Study:
    """An optimisation with its records, in memory.

    Suggestions come from a `bo` process that
    the study starts when it needs one; the process ends with the study. Methods may be called
    from several threads, and in forked processes, which then have independent copies.

    Args:
        space: Parameters by name, such as {"lr": Float(1e-5, 0.1, log=True), "opt": ["a", "b"]}.
        **options: Options of the study file:
            {options}
    """

    def __init__(self, space: Space, **options: Unpack[Options]) -> None:
        self._definition, self._parameters = define(space, options)
        self._open()
        self._trials: list[Trial] = []
        self._idle: set[int] = set()  # pending trials that are not being evaluated
        self._queue: list[Params] = []
        self._seen: dict[int, set[float]] = {}  # steps of the trials that report
        self._warm: Any = None
        on_fork(self)
        checked = self._request({"action": "check"})
        self._initial: int = checked["initial"]
        self._limits: dict[str, Any] = checked.get("end", {})
        self._regret: dict[str, Any] | None = None  # the latest estimate
        self._outcomes = Outcomes.of(
            self._definition, checked.get("require", ()), self._limits.get("cost", "")
        )
        rule = self._definition.get("stop", "none")
        self._stops = (rule if isinstance(rule, str) else rule.get("rule", "none")) != "none"

        self._add_earlier(self._definition.pop("earlier", ()))

    def _add_earlier(self, listed: Any) -> None:
        """Adds earlier evaluations. Points that are not in the space are left out."""
        if listed:
            self._suggestions.process.close()  # it has the evaluations in the definition
        left: list[str] = []
        for i, e in enumerate(listed, 1):
            try:
                point = self._earlier_point(e["params"])
            except RequestError as err:
                left.append(f"number {i}: {str(err).removeprefix(_OF_REQUEST)}")
                continue
            if e.get("state") == "failed":
                self._append(self._made(point, "failed", source="added"))
            else:
                objective = self._outcomes.goals[0].name
                named = {objective: e["value"]} if "value" in e else {}
                self.add(point, {**e.get("numbers", {}), **named})
        if left:
            warnings.warn(
                f"earlier: {len(left)} of {len(listed)} evaluations are left out of fits and of "
                f"the best trial, as their points are not in the space: {left[0]}",
                stacklevel=4,
            )

    def _earlier_point(self, params: Mapping[str, Any]) -> Params:
        """Returns the point of an earlier evaluation, completed by `defaults` if it needs them."""
        try:
            return self._point(params)
        except RequestError:
            defaults = self._definition.get("defaults", {})
            if not defaults.keys() - params.keys():
                raise
            return self._point({**defaults, **params})

    def _open(self) -> None:
        """Prepares the processes. Reports have one of their own, so no fit delays them."""
        self._suggestions = Channel()
        self._decisions = Channel()
        self._lock = threading.RLock()  # guards the trials and the queue

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> Study:
        """Returns a new study of a study file, YAML or JSON."""
        return cls._of(read_file(path, f"{os.fspath(path)}: "))

    @classmethod
    def _of(cls, definition: Mapping[str, Any]) -> Study:
        options = {k: v for k, v in definition.items() if k not in ("version", "parameters")}
        return cls(definition["parameters"], **options)

    @staticmethod
    def open(
        store: str | os.PathLike[str],
        name: str,
        *,
        space: Space | None = None,
        token: str | os.PathLike[str] | None = None,
        ca: str | os.PathLike[str] | None = None,
    ) -> StoredStudy:
        """Returns a study in a store, which several processes may share.

        Args:
            store: An SQLite file such as bo.db, or the address of a PostgreSQL database or of a
                service, `bo serve`, such as https://bo.example.org.
            name: The name of the study.
            space: The space of the study, if it has choices that are no number, text or boolean.
                Without it, trials have the labels of these choices. A space that differs from the
                stored one causes a warning.
            token: The token for a service, or a Path of a file that has it. The default is the
                environment variable BO_TOKEN.
            ca: A file with the certificate authority of a service (PEM), in addition to the
                authorities of the system.
        """
        from ._served import ServedStudy
        from ._store import StoredStudy, is_address

        study: StoredStudy
        if is_address(store):
            study = ServedStudy(str(store), name, space=space, token=token, ca=ca)
        else:
            _require_no_service(token, ca)
            study = StoredStudy(store, name, space=space)
        if space is not None:
            stated = {"version": 1, "parameters": parse_space(space)[0]}
            study._warn_of_differences(stated, stacklevel=3)
        return study

    @staticmethod
    def create(
        store: str | os.PathLike[str],
        name: str,
        /,
        space: Space,
        *,
        exist_ok: bool = False,
        token: str | os.PathLike[str] | None = None,
        ca: str | os.PathLike[str] | None = None,
        **options: Unpack[Options],
    ) -> StoredStudy:
        """Stores a new study and returns it. A file is made if it does not exist.

        Raises ExistsError if the store has a study of the name. With exist_ok this study is
        returned, with the space and the options that it has, and a warning if they differ.
        store, token and ca are as for open. A new study of a service needs a token of role admin.
        """
        from ._served import ServedStudy
        from ._store import StoredStudy, is_address

        if is_address(store):
            return ServedStudy.create(
                str(store), name, space, exist_ok=exist_ok, token=token, ca=ca, **options
            )
        _require_no_service(token, ca)
        return StoredStudy.create(store, name, space, exist_ok=exist_ok, **options)

    @property
    def definition(self) -> dict[str, Any]:
        """The definition in the form of the study file."""
        copy: dict[str, Any] = json.loads(json.dumps(self._definition))
        return copy

    @property
    def goal(self) -> str:
        """The direction of the first objective, minimize or maximize."""
        return self._outcomes.goal

    @property
    def trials(self) -> list[Trial]:
        """Copies of all trials in the order of their numbers."""
        with self._lock:
            return [t.copy() for t in self._trials]

    @property
    def best(self) -> Trial:
        """The feasible trial with the best observed value.

        If no trial is feasible, it is the trial that violates the requirements least.
        Raises NoValueError if no trial is complete, RequestError if there are several objectives.
        """
        with self._lock:
            return self._outcomes.require_best(self._trials).copy()

    @overload
    def ask(self, n: None = None, *, given: Mapping[str, Any] | None = None) -> Trial: ...

    @overload
    def ask(self, n: SupportsIndex, *, given: Mapping[str, Any] | None = None) -> list[Trial]: ...

    def ask(
        self, n: SupportsIndex | None = None, *, given: Mapping[str, Any] | None = None
    ) -> Trial | list[Trial]:
        """Returns a trial to evaluate, or a list of n trials, to be passed to tell or fail.

        The trials have the values in given, such as {"humidity": 61}: the other parameters are
        suggested for these. Interrupted trials and enqueued points with other values wait.

        Trials of an interrupted run come first, then enqueued points, the initial design, and
        suggestions, each conditioned on the pending trials. The list is shorter than n if a
        noise-free objective on a finite space has no more points; ExhaustedError if it has
        none.
        """
        trials = [
            replace(t.copy(), _reporter=LocalReporter(self, t.number))
            for t in self._ask(
                1 if n is None else as_count(n), self._parameters.request(given or {})
            )
        ]
        return trials[0] if n is None else trials

    def tell(self, trial: Trial | SupportsIndex, value: Value, *, correct: bool = False) -> Trial:
        """Records the value of a pending trial, or several numbers by name.

        With correct, the given numbers replace the numbers of a finished trial, and its other
        numbers stay. A tuple has the values of several objectives in their order.
        The numbers have the names of all objectives, and of the numbers in `require`. Raises
        TrialError if one is missing or not finite, or has the name of a parameter and another
        value than the parameter has in the trial; the trial is then still pending.
        """
        if correct:
            return self._correct(number_of(trial), value)
        return self._tell(trial, value, 0.0, checked=isinstance(value, Mapping))

    def fail(
        self,
        trial: Trial | SupportsIndex,
        message: str = "",
        *,
        lost: bool = False,
        correct: bool = False,
    ) -> Trial:
        """Records that a pending trial could not be evaluated.

        With lost, the reason is not its parameters, and the model ignores the trial. Otherwise
        the model expects failures near it. With correct, the failure replaces the result of a
        finished trial.
        """
        changes: dict[str, Any] = {"state": "failed", "message": str(message), "lost": bool(lost)}
        if correct:
            changes |= {"value": None, "numbers": {}, "feasible": None}
            return self._replace(number_of(trial), lambda _: changes)
        return self._finish(trial, **changes)

    def report(
        self, trial: Trial | SupportsIndex, step: SupportsFloat, value: SupportsFloat
    ) -> bool:
        """Records the value of the (first) objective at a step of a pending trial.

        Returns whether the rule in the option `stop` has stopped the trial, which then takes no
        result. Steps need not ascend; a step that was reported before changes nothing. NaN and
        infinities are worse than every number.
        """
        number = number_of(trial)
        return self._report(number, step, value)

    def enqueue(self, params: Mapping[str, Any]) -> None:
        """Adds a point that ask returns ahead of the initial design and of suggestions.

        Parameters that are left out have random values, which depend on the seed.
        """
        point = self._parameters.request(params)
        with self._suggestions.busy:
            with self._lock:
                queue = [*self._queue, point]
            request = {"action": "complete", "queue": queue}
            try:
                answer = self._exchange(self._suggestions, request)
            except RequestError as err:
                raise RequestError(_QUEUED.sub("", str(err))) from None
            with self._lock:
                self._queue.append(answer["points"][-1]["params"])

    def add(self, params: Mapping[str, Any], value: Value) -> Trial:
        """Records an evaluation made elsewhere as a new complete trial."""
        point = self._point(params)
        number, numbers = replace(self._outcomes, cost="").read(value)
        with self._lock:
            t = self._made(point, "complete", number, numbers, source="added")
            t = replace(t, feasible=self._outcomes.feasible(numbers))
            self._append(t)
            return t.copy()

    @overload
    def recommend(self) -> Recommendation: ...

    @overload
    def recommend(self, *, given: Mapping[str, Any]) -> GivenEstimate: ...

    def recommend(
        self, *, given: Mapping[str, Any] | None = None
    ) -> Recommendation | GivenEstimate:
        """Returns the best trials by observed value and by posterior mean.

        With given, such as {"humidity": 61}, it returns the settings of a trial that have the best
        posterior mean with these values in place of their own.
        Raises NoValueError if no trial is complete, RequestError if there are several objectives.
        """
        self._outcomes.best(())  # RequestError
        request: dict[str, Any] = {"action": "recommend"}
        if given is not None:
            request["given"] = self._parameters.given(given)
        answer = self._request(request)["recommendation"]
        trials = self.trials
        if given is not None:
            return given_estimate(answer["given"], trials, self._parameters)

        def estimate(key: str) -> Estimate:
            e = answer[key]
            return Estimate(trials[e["trial"] - 1], e["mean"], e["sd"], e.get("feasible"))

        return Recommendation(estimate("observed"), estimate("model"))

    def pareto(self, *, model: bool = False) -> Pareto:
        """Returns the Pareto front of several objectives, and its hypervolume.

        With model it also has the front of the posterior means, which costs a fit of each
        objective that is not exact, and raises NoValueError if no trial is complete.
        """
        answer = self._request({"action": "pareto"})["pareto"]
        rows = self._request({"action": "recommend"})["front"]["model"] if model else []
        trials = self.trials
        return Pareto(
            [trials[number - 1] for number in answer["front"]],
            answer.get("reference", {}),
            answer.get("hypervolume", []),
            front_estimates(rows, trials) if model else None,
        )

    def predict(self, points: Iterable[Mapping[str, Any]]) -> list[PointPrediction]:
        """Fits the model to the trials, to at most 1000, and predicts at points.

        A point has a value for every active parameter. Raises NoValueError if no trial is complete.
        """
        wanted, trials = points_of(points, self._parameters), self.trials
        if not any(t.state == "complete" for t in trials):
            raise NoValueError("no trial has a value")
        with copied(self.definition, trials) as (store, name):
            return predictions(store, name, wanted, self._parameters)

    def run(
        self,
        f: Callable[..., Value | None],
        budget: int | None = None,
        *,
        workers: int | None = None,
        executor: Executor | None = None,
        target: float | None = None,
        time: float | None = None,
        max_failures: int | None = None,
        callback: Callable[[Study, Trial], Any] | None = None,
        progress: bool | None = None,
    ) -> Result:
        """Evaluates f until budget trials of the study are finished; see minimize."""
        from ._run import Run

        return Run(
            self,
            f,
            budget=budget,
            workers=workers,
            executor=executor,
            target=target,
            time_limit=time,
            max_failures=max_failures,
            callback=callback,
            progress=progress,
        ).result()

    def html_report(self) -> HTMLReport:
        """Returns a page with pictures of the study and its surrogate model.

        A notebook shows it; HTMLReport.save writes it to a file.
        """
        return report(self.definition, self.trials)

    def records(self) -> list[dict[str, Any]]:
        """Returns the trials as dictionaries."""
        return [t.record() for t in self.trials]

    def dataframe(self) -> pandas.DataFrame:
        """Returns the trials as a pandas data frame with a column for each parameter."""
        return frame(self.trials, self._outcomes)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the whole study to a file, which load reads. A file there is replaced."""
        with self._lock:
            document = {
                "format": _FORMAT,
                "version": 1,
                "study": self._definition,
                "trials": [_saved(t) for t in self._trials],
                "queue": list(self._queue),
                "warm": self._warm,
            }
        _replace_file(Path(path), json.dumps(document))

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, space: Space | None = None) -> Study:
        """Reads a study that save wrote. It makes the same suggestions.

        ask returns its pending trials first; they may also be told. The file has labels for choices
        that are no number, text or boolean; space, the space of the study, has these choices. A
        space that differs from the space in the file causes a warning.
        """
        try:
            document = json.loads(Path(path).read_text(encoding="utf-8"))
        except ValueError as err:
            raise StudyError(f"{path}: {err}") from err
        if not isinstance(document, dict) or document.get("format") != _FORMAT:
            raise StudyError(f"{path}: not a file that Study.save wrote")
        if document.get("version") != 1:
            raise StudyError(f"{path}: version is {document.get('version')}, want 1")
        try:
            study = cls._restored(document, space)
        except StudyError as err:
            raise StudyError(f"{path}: {err}") from err
        except (AttributeError, KeyError, TypeError) as err:
            raise StudyError(f"{path}: damaged: {type(err).__name__}: {err}") from err
        if space is not None:
            saved = {"version": 1, "parameters": document["study"]["parameters"]}
            stated = {"version": 1, "parameters": parse_space(space)[0]}
            if normalized(stated) != normalized(saved):
                warnings.warn(
                    f"{path} has other parameters than the argument space, which is ignored",
                    stacklevel=2,
                )
        return study

    @classmethod
    def _restored(cls, document: Mapping[str, Any], space: Space | None) -> Study:
        """Returns the study of a document that save wrote."""
        study = cls._of(document["study"])
        study._parameters = study._parameters.declared(space)
        for saved in document["trials"]:
            t = study._loaded(saved)
            study._append(t)
            if t.state == "pending":
                study._idle.add(t.number)
        study._queue = [dict(p) for p in document["queue"]]
        study._warm = document["warm"]
        study._suggestions.process.close()  # the next request sends the warm start
        return study

    def close(self) -> None:
        """Ends the `bo` processes. The next call that needs one starts another."""
        self._suggestions.close()
        self._decisions.close()

    def __enter__(self) -> Study:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        names = ", ".join(self._parameters)
        return f"<Study of {names}: {len(self._trials)} trials>"

    def _repr_html_(self) -> str:
        trials = self.trials
        best = None if self._outcomes.several else self._outcomes.best(trials)
        return summary(self._definition.get("name") or "study", trials, self._outcomes, best)

    def __getstate__(self) -> dict[str, Any]:
        with self._lock:
            state = self.__dict__.copy()
            state.update(
                _trials=list(self._trials), _idle=set(self._idle), _queue=list(self._queue)
            )
        for key in ("_suggestions", "_decisions", "_lock"):
            del state[key]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._open()
        on_fork(self)

    def _after_fork(self) -> None:
        self._suggestions.after_fork()
        self._decisions.after_fork()
        self._lock = threading.RLock()

    def _ask(self, n: int, given: Params | None = None) -> list[Trial]:
        given = given or {}
        with self._lock:
            waiting = (self._trials[i - 1] for i in sorted(self._idle))
            idle = [t.number for t in waiting if _has(t.labelled(), given)][:n]
            self._idle.difference_update(idle)
            asked = [self._trials[number - 1] for number in idle]
        if len(asked) < n:
            try:
                asked += self._propose(n - len(asked), given)
            except ExhaustedError:
                if not asked:
                    raise
            except BaseException:
                with self._lock:
                    self._idle.update(idle)
                raise
        return asked

    def _propose(self, n: int, given: Params) -> list[Trial]:
        """Returns n new trials with the given values."""
        with self._suggestions.busy:
            with self._lock:
                queue = list(self._queue)
            request: dict[str, Any] = {"n": n}
            if queue:
                request["queue"] = queue
            if given:
                request["given"] = given
            answer = self._exchange(self._suggestions, request)
            with self._lock:
                self._warm = answer.get("warm")
                self._regret = answer.get("regret")
                asked = [self._asked(p) for p in answer["points"]]
                self._shorten([t.labelled() for t in asked if t.source == "enqueued"])
                return asked

    def _asked(self, point: dict[str, Any]) -> Trial:
        """Appends the trial of a suggestion."""
        predicted = point.get("prediction")
        t = self._made(
            point["params"],
            source=point["source"],
            prediction=known(Prediction, predicted) if predicted is not None else None,
            warnings=tuple(point.get("warnings", ())),
        )
        self._append(t)
        return t

    def _shorten(self, used: list[Params]) -> None:
        """Removes the used points from the queue, and points with a trial if noise-free."""
        if not is_noise_free(self._definition):
            for point in map(_typed, used):
                del self._queue[[_typed(p) for p in self._queue].index(point)]
            return
        tried = [_typed(t.labelled()) for t in self._trials if not t.lost]
        self._queue = [p for p in self._queue if _typed(p) not in tried]

    def _made(self, point: Mapping[str, Any], *fields: Any, **named: Any) -> Trial:
        """Returns a new trial at a point in the form of a request."""
        return trial_of(self._parameters, len(self._trials) + 1, point, *fields, **named)

    def _append(self, t: Trial) -> None:
        with self._lock:
            self._trials.append(t)
            self._changed(t.number)

    def _changed(self, number: int) -> None:
        """Notes that the processes lack a change of a trial. The caller holds _lock."""
        self._suggestions.unsent.add(number)
        self._decisions.unsent.add(number)

    def _tell(
        self, trial: Trial | SupportsIndex, value: Value, seconds: float, *, checked: bool = False
    ) -> Trial:
        """Records a value. If checked, its numbers must not contradict the parameters."""
        number, numbers = self._outcomes.read(value)
        if checked:
            self._check_settings(number_of(trial), numbers)
        warn_unread(numbers, self._outcomes.goals, [*self._outcomes.declared, *self._parameters])
        return self._finish(
            trial,
            state="complete",
            value=number,
            numbers=numbers,
            message=read_note(value),
            feasible=self._outcomes.feasible(numbers),
            seconds=seconds,
        )

    def _check_settings(self, number: int, numbers: Mapping[str, float]) -> None:
        """Raises TrialError if a number has another value than the parameter of its name.

        Values are equal up to the six digits that programs print.
        """
        with self._lock:
            params = self._numbered(number).params
        for name in self._parameters:
            if name not in numbers or name in self._outcomes.declared:
                continue
            value, told = params.get(name), numbers[name]
            if isinstance(value, int | float) and math.isclose(told, value, rel_tol=1e-5):
                continue
            suggested = f"at {name}={value}" if name in params else f"without {name}"
            raise TrialError(
                f"trial {number} was suggested {suggested}, and its result has "
                f"{name}={told}: to record other settings, use add; "
                f"fail gives up trial {number}"
            )

    def _fail(self, trial: Trial | SupportsIndex, message: str, seconds: float) -> Trial:
        return self._finish(trial, state="failed", message=str(message), seconds=seconds)

    def _finish(self, trial: Trial | SupportsIndex, **changes: Any) -> Trial:
        number = number_of(trial)
        with self._lock:
            t = self._pending(number)
            t = self._trials[number - 1] = replace(t, **changes)
            self._idle.discard(number)
            self._seen.pop(number, None)
            self._changed(number)
            return t.copy()

    def _correct(self, number: int, value: Value) -> Trial:
        """Replaces numbers of a finished trial. A note that is not given stays."""

        def corrected(t: Trial) -> dict[str, Any]:
            goals = [g.name for g in self._outcomes.goals]
            given = read_numbers(value, goals, self._outcomes.declared)
            first, numbers = self._outcomes.read({**t.numbers, **given})
            self._check_settings(number, given)
            return {
                "state": "complete",
                "value": first,
                "numbers": numbers,
                "message": read_note(value) or ("" if t.state == "failed" else t.message),
                "feasible": self._outcomes.feasible(numbers),
                "lost": False,
            }

        return self._replace(number, corrected)

    def _replace(self, number: int, changes: Callable[[Trial], dict[str, Any]]) -> Trial:
        """Replaces the result of a finished trial. changes returns the new values of attributes.

        The next fit begins without a warm start, because the replaced result affected the latest
        hyperparameters.
        """
        with self._suggestions.busy, self._lock:
            t = self._finished(number)
            t = self._trials[number - 1] = replace(t, **changes(t))
            self._warm = self._regret = None
            self._suggestions.process.close()
            self._changed(number)
            return t.copy()

    def _finished(self, number: int) -> Trial:
        """Returns a trial whose result can be replaced, or raises TrialError.

        The caller holds _lock.
        """
        t = self._numbered(number)
        if t.state == "pending":
            raise TrialError(f"trial {number} has no result to correct")
        if t.state == "stopped":
            raise TrialError(f"trial is already finished: trial {number} is stopped")
        return t

    def _pending(self, number: int) -> Trial:
        """Returns a pending trial, or raises TrialError. The caller holds _lock."""
        t = self._numbered(number)
        if t.state != "pending":
            hint = "" if t.state == "stopped" else "; correct=True replaces a result"
            raise TrialError(f"trial is already finished: trial {number} is {t.state}{hint}")
        return t

    def _numbered(self, number: int) -> Trial:
        """Returns the trial of a number, or raises TrialError. The caller holds _lock."""
        if not 1 <= number <= len(self._trials):
            raise TrialError(f"no such trial: {number}")
        return self._trials[number - 1]

    def _interrupt(self, trial: Trial) -> None:
        """Marks a pending trial as one that is not being evaluated.

        Its next evaluation reports the steps again.
        """
        with self._decisions.busy, self._lock:
            t = self._trials[trial.number - 1]
            if t.state != "pending":
                return
            self._idle.add(t.number)
            if t.steps:
                self._trials[t.number - 1] = replace(t, steps=())
                self._decisions.process.close()  # it has the steps

    def _report(
        self,
        number: int,
        step: SupportsFloat,
        value: SupportsFloat,
        by: LocalReporter | None = None,
    ) -> bool:
        """Is report, on behalf of a reporter that the end of a run may have stopped."""
        at, reported = as_float(step, "step"), as_float(value)
        if not usable(at):
            raise TrialError(f"step is not a usable number: {at}")
        with self._decisions.busy:
            with self._lock:
                if by is not None and by.stopped:
                    return True
                if 1 <= number <= len(self._trials) and self._trials[number - 1].state == "stopped":
                    return True
                if at in self._steps_of(self._pending(number)):
                    return False
            reason = self._decide(number, at, reported) if self._stops else ""
            with self._lock:
                t = self._trials[number - 1]
                seen = self._steps_of(t)
                t = replace(t, steps=(*t.steps, Step(at, reported)))
                seen.add(at)
                self._trials[number - 1] = t
                if reason and t.state == "pending":
                    t = self._end_early(t, reason)
                return t.state == "stopped"

    def _end_early(self, t: Trial, reason: str, **changes: Any) -> Trial:
        """Stops a pending trial at its last step. The caller holds _lock."""
        last = max(t.steps).value
        numbers = {self._outcomes.goals[0].name: last} if usable(last) else {}
        t = replace(t, state="stopped", message=reason, numbers=numbers, **changes)
        self._trials[t.number - 1] = t
        self._idle.discard(t.number)
        self._changed(t.number)
        return t

    def _stop(self, trial: Trial, reason: str, seconds: float) -> Trial:
        """Stops a trial by a rule of its function. A trial that cannot be stopped fails."""
        with self._lock:
            t = self._pending(trial.number)
            if t.steps and not self._outcomes.several:
                text = f"step {max(t.steps).step:.15g}: {reason}"
                return self._end_early(t, text, seconds=seconds).copy()
        hint = "only a trial of one objective is stopped, after a reported step"
        return self._fail(trial, f"the trial is stopped: {reason} ({hint})", seconds)

    def _steps_of(self, t: Trial) -> set[float]:
        """Returns the steps of a trial. The caller holds _lock."""
        seen = self._seen.get(t.number)
        if seen is None or len(seen) != len(t.steps):  # a first report, or one after a new start
            seen = self._seen[t.number] = {s.step for s in t.steps}
        return seen

    def _decide(self, number: int, step: float, value: float) -> str:
        """Returns the reason why a step stops a trial, or an empty text."""
        told = {"step": step, "value": value if usable(value) else None}
        request = {"action": "report", "report": {"trial": number, "steps": [told]}}
        try:
            answer = self._exchange(self._decisions, request)
        except ProcessError:  # the request has all data, so another process can answer it
            answer = self._exchange(self._decisions, request)
        return str(answer["decision"].get("reason", ""))

    def _point(self, params: Mapping[str, Any]) -> Params:
        """Returns a valid point in the form of a request, or raises RequestError."""
        point = self._parameters.request(params)
        try:
            self._request({"action": "check", "queue": [point]})
        except RequestError as err:
            raise RequestError(_QUEUED.sub("", str(err))) from None
        for name, p in self._parameters.items():
            if isinstance(p, Fixed) and p.when is None:
                point[name] = p.encode(p.value)
        return point

    def _request(self, request: dict[str, Any]) -> dict[str, Any]:
        with self._suggestions.busy:
            return self._exchange(self._suggestions, request)

    def _exchange(self, channel: Channel, request: dict[str, Any]) -> dict[str, Any]:
        """Returns the answer to a request. The caller holds channel.busy."""
        decides = channel is self._decisions

        def head() -> dict[str, Any]:
            warm = {} if self._warm is None or decides else {"warm": self._warm}
            return {"study": self._definition, **warm}

        told = self._told_steps if decides else self._told_finished
        return channel.exchange(request, told, head, self._trials, self._lock)

    def _told(self, t: Trial) -> dict[str, Any]:
        """Returns the form of a trial in a request."""
        state = "lost" if t.lost else t.state
        out = {"trial": t.number, "params": t.labelled(), "state": state}
        read = {*self._outcomes.declared, *self._outcomes.standard_errors}
        if t.state == "complete" and len(read) > 1:
            out["numbers"] = {k: v for k, v in t.numbers.items() if k in read}
        elif t.value is not None:
            out["value"] = t.value
        return out

    def _told_finished(self, t: Trial) -> dict[str, Any]:
        """Returns the form of a trial in a request for suggestions.

        A fit compares the steps of stopped and complete trials. An interrupted trial loses its
        steps, so pending trials have none.
        """
        return self._told(t) if t.state == "pending" else self._told_steps(t)

    def _told_steps(self, t: Trial) -> dict[str, Any]:
        """Returns the form of a trial with its steps in a request."""
        steps = [{"step": s.step, "value": s.value if usable(s.value) else None} for s in t.steps]
        return {**self._told(t), **({"steps": steps} if steps else {})}

    def _loaded(self, saved: dict[str, Any]) -> Trial:
        """Returns a trial that save wrote."""
        predicted = saved.pop("prediction", None)
        number, point = saved.pop("number"), saved.pop("params")
        warnings = tuple(saved.pop("warnings", ()))
        steps = tuple(Step(*s) for s in saved.pop("steps", ()))
        prediction = Prediction(**predicted) if predicted is not None else None
        saved |= {"prediction": prediction, "warnings": warnings, "steps": steps}
        return trial_of(self._parameters, number, point, **saved)


def _require_no_service(token: Any, ca: Any) -> None:
    """Raises RequestError for an argument that only a service has."""
    for name, given in (("token", token), ("ca", ca)):
        if given is not None:
            raise RequestError(
                f"{name} is for the address of a service, such as https://bo.example.org"
            )


def _has(params: Params, given: Params) -> bool:
    """Returns whether a point has the given values."""
    return _typed(given).items() <= _typed(params).items()


def _typed(params: Params) -> Params:
    """Returns the values of a point in a form in which True and 1 differ."""
    return {name: (isinstance(v, bool), v) for name, v in params.items()}


def _replace_file(path: Path, text: str) -> None:
    """Writes a file whole or not at all. A file there keeps its permissions."""
    target = Path(os.path.realpath(path))
    fresh = target.with_name(f".{target.name}-{secrets.token_hex(8)}")
    try:
        with open(fresh, "x", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, fresh)
        os.replace(fresh, target)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise


def _saved(t: Trial) -> dict[str, Any]:
    """Returns the form of a trial in a file."""
    out = dict(t.__dict__)
    del out["_reporter"], out["_labels"]
    out["params"] = t.labelled()
    if t.prediction is not None:
        out["prediction"] = t.prediction.__dict__
    return out
