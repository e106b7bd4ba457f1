"""Studies in a store, which several processes may share."""

from __future__ import annotations

import json
import math
import os
import re
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, SupportsFloat, SupportsIndex, overload

from ._binary import ending, in_python, read_answer, run_binary
from ._definition import define, normalized
from ._html import HTMLReport, stored, summary
from ._outcomes import (
    Outcomes,
    Value,
    as_count,
    as_float,
    read_note,
    read_numbers,
    warn_unread,
)
from ._predict import points_of, predictions
from ._reporter import LocalReporter
from ._space import Parameters, Space, parse_space
from ._trial import (
    Estimate,
    GivenEstimate,
    Pareto,
    PointPrediction,
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
    BoError,
    CommandError,
    ExhaustedError,
    ExistsError,
    NoValueError,
    RequestError,
    StudyError,
    TrialError,
)

if TYPE_CHECKING:
    import pandas
    from typing_extensions import Unpack

    from ._options import Options

_DATABASES = ("postgres://", "postgresql://")  # beginnings of addresses
_MESSAGE = 10_000  # characters of a message, which is an argument of a command

_KINDS: dict[tuple[str, int], type[BoError]] = {
    ("ask", 2): RequestError,
    ("ask", 4): ExhaustedError,
    ("best", 2): RequestError,
    ("best", 4): NoValueError,
    ("enqueue", 2): RequestError,
    ("enqueue", 4): ExhaustedError,
    ("fail", 2): TrialError,
    ("fail", 4): TrialError,
    ("study", 4): ExistsError,
    ("study predict", 2): RequestError,
    ("study predict", 4): NoValueError,
    ("tell", 2): TrialError,
    ("tell", 4): TrialError,
}
"""The exceptions for the exit codes of verbs. CommandError is for all others."""


class StoredStudy:
    """A study in a store: an SQLite file, or a PostgreSQL database.

    Every method runs a verb of `bo`. Several processes may use one study.
    """

    def __init__(
        self, store: str | os.PathLike[str], name: str, *, space: Space | None = None
    ) -> None:
        self._store = _address(store)
        check_name(name)
        self.name = name
        shown = self._verb("study", "show", flags=["--brief"])
        self._definition: dict[str, Any] = shown["definition"]
        self._parameters = _parameters(self._definition, space)
        self._outcomes = Outcomes.of(self._definition)
        self._cost: str = (self._definition.get("end") or {}).get("cost", "")

    @classmethod
    def create(
        cls,
        store: str | os.PathLike[str],
        name: str,
        /,
        space: Space,
        *,
        exist_ok: bool = False,
        **options: Unpack[Options],
    ) -> StoredStudy:
        """Stores a new study and returns it; see Study.create."""
        from ._study import Study

        store = _address(store)
        check_name(name)
        definition = {**define(space, options)[0], "name": name}
        with Study._of(definition):  # StudyError if the definition is invalid
            pass
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "study.json")
            with open(path, "w", encoding="utf-8") as file:
                json.dump(definition, file)
            try:
                _run(["study", "create", path, "--store", store, "--json"], hide=path + ": ")
            except ExistsError as err:
                if not exist_ok:
                    raise ExistsError(f"{err}: use Study.open, or exist_ok=True") from err
                study = cls(store, name, space=space)
                study._warn_of_differences(definition)
                return study
        return cls(store, name, space=space)

    def _warn_of_differences(self, stated: Mapping[str, Any], stacklevel: int = 4) -> None:
        """Warns of the keys of a definition that the stored one has otherwise."""
        given = normalized(stated)
        keys = (k for k in stated if k not in ("version", "name", "earlier"))
        other = [k for k in keys if given.get(k) != self._definition.get(k)]
        if other:
            warnings.warn(
                f"study {self.name} exists with other {' and other '.join(other)} than the "
                "arguments, which are ignored: bo study edit changes a stored study",
                stacklevel=stacklevel,
            )

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
        """All trials in the order of their numbers.

        Only these have steps. The value of a step without a usable number is NaN.
        """
        return [self._trial(t) for t in self._rows()]

    def _rows(self) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = self._verb("trials")
        return rows

    @property
    def best(self) -> Trial:
        """The feasible trial with the best observed value. Raises NoValueError if there is none.

        If no trial is feasible, it is the trial that violates the requirements least.
        Raises RequestError if there are several objectives.
        """
        self._outcomes.best(())  # RequestError
        return self._trial(self._best())

    def _best(self) -> dict[str, Any]:
        row: dict[str, Any] = self._verb("best")
        return row

    @overload
    def ask(
        self,
        n: None = None,
        *,
        given: Mapping[str, Any] | None = None,
        lease: str | None = None,
    ) -> Trial: ...

    @overload
    def ask(
        self,
        n: SupportsIndex,
        *,
        given: Mapping[str, Any] | None = None,
        lease: str | None = None,
    ) -> list[Trial]: ...

    def ask(
        self,
        n: SupportsIndex | None = None,
        *,
        given: Mapping[str, Any] | None = None,
        lease: str | None = None,
    ) -> Trial | list[Trial]:
        """Returns a trial to evaluate, or a list of n trials.

        The trials have the values in given, such as {"humidity": 61}: the other parameters are
        suggested for these. Other trials keep waiting.
        With a lease, such as "24h", a trial without a result is issued again after that time.
        Without one it stays with the caller. A trial of a service stays with this process, which
        extends a lease of a minute in a thread. If the process ends, the trial is issued again.
        """
        trials = self._issued(1 if n is None else as_count(n), given, lease)
        return trials[0] if n is None else trials

    def _issued(self, n: int, given: Mapping[str, Any] | None, lease: str | None) -> list[Trial]:
        flags = ["-n", str(n)]
        if given:
            flags.append(f"--given={json.dumps(self._parameters.request(given))}")
        if lease is not None:
            if not isinstance(lease, str):
                raise RequestError(f"the lease is {lease!r}, want a text such as '24h'")
            flags += ["--lease", lease]
        trials = [self._trial(t) for t in self._verb("ask", flags=flags)]
        return [replace(t, _reporter=LocalReporter(self, t.number)) for t in trials]

    def tell(
        self,
        trial: Trial | SupportsIndex,
        value: Value,
        *,
        at: Mapping[str, Any] | None = None,
        correct: bool = False,
    ) -> Trial:
        """Records the value of a trial, or several numbers by name.

        With at, the trial was evaluated at these values of parameters, and not at the suggested
        ones. It moves there.
        A trial with another result raises TrialError. With correct, the given numbers replace the
        numbers of a finished trial, and its other numbers stay.
        """
        numbers, note = self._numbers(value), _argument(read_note(value))
        told = self._trial(self._told(number_of(trial), numbers, note, at, correct))
        self._warn_unread(told)
        return told

    def _told(
        self,
        number: int,
        numbers: Mapping[str, float],
        note: str,
        at: Mapping[str, Any] | None,
        correct: bool,
    ) -> dict[str, Any]:
        flags = [*self._flags(at, correct=correct), *([f"--note={note}"] if note else [])]
        row: dict[str, Any] = self._verb("tell", str(number), json.dumps(numbers), flags=flags)
        return row

    def _warn_unread(self, told: Trial) -> None:
        """Warns if a complete trial lacks a standard error that may have another name."""
        if told.state == "complete":
            known_names = [*self._declared(), *self._parameters]
            warn_unread(told.numbers, self._outcomes.goals, known_names)

    def _numbers(self, value: Value | None) -> dict[str, float]:
        """Returns the numbers of a result by name."""
        return read_numbers(value, [g.name for g in self._outcomes.goals], self._declared())

    def _declared(self) -> list[str]:
        """The names of the numbers that a complete trial has."""
        conditions = [*self._definition.get("require", ()), self._cost]
        names = [re.split("[<>]=", c)[0].strip() for c in conditions if c]
        return list(dict.fromkeys([*self._outcomes.declared, *names]))

    def run(
        self,
        f: Callable[..., Value | None],
        *,
        workers: int | None = None,
        executor: Executor | None = None,
        target: float | None = None,
        time: float | None = None,
        max_failures: int | None = None,
        callback: Callable[[StoredStudy, Trial], Any] | None = None,
        progress: bool | None = None,
    ) -> Result:
        """Evaluates f until the budget of the study is used up, and returns the result.

        Several processes may run one study at the same time. Trials are issued under leases that
        are extended while f runs. If a process ends in any way, its trials are issued again.

        Args:
            f: Takes the parameters as a dictionary, and a keyword argument trial if it has one.
                It returns a number, several numbers by name, or a tuple of the objectives. An
                exception is a failed trial.
            workers: Evaluations at a time, in threads if there are several. The default is the
                option workers of the study, or the number of workers of executor, or 1.
            executor: Evaluates f, for example in processes. State workers for an executor of
                another library.
            target: Ends the run when a trial is at least as good.
            time: Ends the run after so many seconds. Evaluations under way are finished.
            max_failures: Ends the run with FailuresError when more trials have failed, 1 or more.
            callback: Is called with the study and each finished trial of this run. A true
                result ends the run.
            progress: Reports progress on standard error. The default is in terminals and notebooks.

        Raises NoValueError if no trial has a value, and FailuresError if the first trials fail
        alike, unless the study has failures="expected". Ctrl-C ends the run, and the result then
        has interrupted.
        """
        from ._stored_run import StoredRun

        return StoredRun(
            self,
            f,
            workers=workers,
            executor=executor,
            target=target,
            time_limit=time,
            max_failures=max_failures,
            callback=callback,
            progress=progress,
        ).result()

    def fail(
        self,
        trial: Trial | SupportsIndex,
        message: str = "",
        *,
        at: Mapping[str, Any] | None = None,
        lost: bool = False,
        correct: bool = False,
    ) -> Trial:
        """Records that a trial could not be evaluated.

        at is as for tell. With lost, the reason is not its parameters: the model ignores the
        trial, and tell can still record a result. With correct, the failure replaces the result of
        a finished trial.
        """
        text = _argument(str(message))
        return self._trial(self._failed(number_of(trial), text, at, lost, correct))

    def _flags(self, at: Mapping[str, Any] | None, *, correct: bool) -> list[str]:
        """Returns the flags that tell and fail share."""
        moved = [] if at is None else [f"--at={json.dumps(self._parameters.request(at))}"]
        return [*moved, *(["--correct"] if correct else [])]

    def _failed(
        self, number: int, message: str, at: Mapping[str, Any] | None, lost: bool, correct: bool
    ) -> dict[str, Any]:
        flags = [*(["--lost"] if lost else []), *self._flags(at, correct=correct)]
        row: dict[str, Any] = self._verb("fail", str(number), message, flags=flags)
        return row

    def report(
        self, trial: Trial | SupportsIndex, step: SupportsFloat, value: SupportsFloat
    ) -> bool:
        """Records the value of the (first) objective at a step of a running trial.

        Returns whether the rule in the option `stop` has stopped the trial, from the steps of
        all processes. A step that was reported before changes nothing.
        """
        return self._reported(number_of(trial), as_float(step, "step"), as_float(value))

    def _reported(self, number: int, step: float, value: float) -> bool:
        shown = self._verb("tell", str(number), repr(value), flags=[f"--step={step!r}"])
        return bool(shown["stop"])

    def pareto(self, *, model: bool = False) -> Pareto:
        """Returns the Pareto front of several objectives, and its hypervolume.

        With model it also has the front of the posterior means, which costs a fit of each
        objective that is not exact, and raises NoValueError if no trial is complete.
        """
        if not self._outcomes.several:
            raise RequestError("pareto is for several objectives")
        with self._local() as local:
            shown = local._verb("best", flags=["--model"] if model else [])
            front = [local._trial(t) for t in shown["front"]]
            means = front_estimates(shown["model"], local.trials) if model else None
        return Pareto(front, shown.get("reference", {}), shown.get("hypervolume", []), means)

    def _report(
        self, number: int, step: SupportsFloat, value: SupportsFloat, by: LocalReporter
    ) -> bool:
        """Is report, on behalf of a reporter."""
        return self.report(number, step, value)

    @overload
    def recommend(self) -> Recommendation: ...

    @overload
    def recommend(self, *, given: Mapping[str, Any]) -> GivenEstimate: ...

    def recommend(
        self, *, given: Mapping[str, Any] | None = None
    ) -> Recommendation | GivenEstimate:
        """Fits the model, and returns the best trials by observed value and by posterior mean.

        With given, such as {"humidity": 61}, it returns the settings of a trial that have the best
        posterior mean with these values in place of their own.
        Raises NoValueError if no trial is complete, RequestError if there are several objectives.
        """
        self._outcomes.best(())  # RequestError
        with self._local() as local:
            if given is not None:
                flags = [f"--given={json.dumps(self._parameters.given(given))}"]
                row = local._verb("best", flags=flags)
                return given_estimate(row, local.trials, self._parameters)
            answer = local._verb("best", flags=["--model"])
            trials = local.trials
        return Recommendation(
            *(
                Estimate(trials[e["trial"] - 1], e["mean"], e["sd"], e.get("feasible"))
                for e in (answer["observed"], answer["model"])
            )
        )

    def predict(self, points: Iterable[Mapping[str, Any]]) -> list[PointPrediction]:
        """Fits the model to the trials, to at most 1000, and predicts at points.

        A point has a value for every active parameter. Raises NoValueError if no trial is complete.
        """
        rows = points_of(points, self._parameters)
        with self._local() as local:
            return predictions(local._store, self.name, rows, self._parameters)

    def enqueue(self, params: Mapping[str, Any]) -> Trial:
        """Adds a point that ask returns ahead of suggestions, as a pending trial.

        Parameters that are left out have random values, which depend on the seed.
        """
        return self._trial(self._enqueued(self._parameters.request(params)))

    def _enqueued(self, point: Mapping[str, Any]) -> dict[str, Any]:
        row: dict[str, Any] = self._verb("enqueue", json.dumps(point), flags=["--complete"])
        return row

    def records(self) -> list[dict[str, Any]]:
        """Returns the trials as dictionaries."""
        return [t.record() for t in self.trials]

    def dataframe(self) -> pandas.DataFrame:
        """Returns the trials as a pandas data frame with a column for each parameter."""
        return frame(self.trials, self._outcomes)

    def html_report(self, maps: Sequence[str] = ()) -> HTMLReport:
        """Returns a page with pictures of the study and its surrogate model.

        A notebook shows it; HTMLReport.save writes it to a file. maps are the names of 2 to 8
        parameters of which every pair has a map; the default is the most important ones.
        """
        with self._local() as local:
            return stored(local._store, self.name, maps)

    @contextmanager
    def _local(self) -> Iterator[StoredStudy]:
        """Gives this study, or a copy of it, in a store that this process can open."""
        yield self

    def __repr__(self) -> str:
        return f"<StoredStudy {self.name}>"

    def _repr_html_(self) -> str:
        best = None
        if not self._outcomes.several:
            with suppress(NoValueError):
                best = self.best
        return summary(self.name, self.trials, self._outcomes, best)

    def _evaluation(
        self, target: float | None, max_failures: int | None
    ) -> tuple[list[str], dict[str, str]]:
        """Returns flags of `bo evaluate`, among them the store, and environment variables."""
        flags = ["--store", self._store]
        if target is not None:
            flags.append(f"--target={target!r}")
        if max_failures is not None:
            flags.append(f"--max-failures={max_failures}")
        return flags, {}

    def _verb(self, *words: str, flags: list[str] | None = None) -> Any:
        verb, arguments = list(words[:1]), list(words[1:])
        if verb == ["study"]:
            verb, arguments = list(words[:2]), list(words[2:])
        options = ["--store", self._store, "--json", *(flags or [])]
        return read_answer(_run([*verb, *options, "--", self.name, *arguments]))

    def _trial(self, row: Mapping[str, Any]) -> Trial:
        """Returns a trial of the output of a verb."""
        state = row.get("state", "pending")
        return trial_of(
            self._parameters,
            row["trial"],
            row["params"],
            state if state in ("pending", "complete", "stopped") else "failed",
            None if row.get("value") is None else float(row["value"]),
            {name: float(v) for name, v in (row.get("numbers") or {}).items()},
            row.get("message", ""),
            row.get("source", "suggested"),
            seconds=row.get("seconds", 0.0),
            feasible=row.get("feasible"),
            lost=row.get("failure") == "lost",
            steps=tuple(_step(s) for s in row.get("steps", ())),
        )


def _parameters(definition: Mapping[str, Any], space: Space | None) -> Parameters:
    """Returns the parameters of a stored study, with the objects of its space."""
    return parse_space(definition["parameters"])[1].declared(space)


def check_name(name: Any) -> None:
    """Raises StudyError for a name of a study that is no text, or empty."""
    if not isinstance(name, str) or not name:
        raise StudyError(f"invalid study: name is {name!r}, want a text")


def _step(row: Mapping[str, Any]) -> Step:
    return Step(row["step"], math.nan if row["value"] is None else row["value"])


def _argument(message: str) -> str:
    """Returns a message that fits in a command line, with "?" for characters that do not."""
    return message[:_MESSAGE].replace("\0", "?").encode(errors="replace").decode()


def is_address(store: Any) -> bool:
    """Reports whether a store is the address of a service."""
    return isinstance(store, str) and store.lower().startswith(("http://", "https://"))


def _address(store: str | os.PathLike[str]) -> str:
    """Returns the address of a database, or the path of a file from any working directory."""
    text = os.fspath(store)
    if text.startswith(_DATABASES):
        return text
    if is_address(text):
        raise RequestError(f"the store is {text!r}: Study.open opens a study of a service")
    if text.startswith("sqlite:") or "://" in text:
        raise RequestError(
            f"the store is {text!r}, want the path of the file, such as 'bo.db', or the address of "
            "a PostgreSQL database, such as 'postgres://host/name', or of a service, such as "
            "'https://bo.example.org'"
        )
    return os.path.abspath(text)


def _run(arguments: list[str], hide: str = "") -> str:
    """Returns the output of a verb, or raises its one-line message."""
    done = run_binary(arguments)
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or [f"bo ended: {ending(done.returncode)}"]
        message = in_python(lines[-1].removeprefix("bo: ").replace(hide, ""))
        kind = _KINDS.get((arguments[0], done.returncode), CommandError)
        kind = _KINDS.get((" ".join(arguments[:2]), done.returncode), kind)
        raise (CommandError if message.startswith("unknown study") else kind)(message)
    return done.stdout
