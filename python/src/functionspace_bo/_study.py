"""A study in memory: ask, tell, fail, save and load."""

from __future__ import annotations

import json
import operator
import os
import secrets
import shutil
import subprocess
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from ._binary import find_binary
from ._definition import define, is_noise_free, objective_of
from ._process import Process, on_fork
from ._space import Fixed, Params, Space, plain_params, require_json, shown
from ._trial import Estimate, Prediction, Recommendation, Result, Trial, best_trial, frame
from ._value import read_value
from .errors import ExhaustedError, NoValueError, RequestError, StudyError, TrialError

if TYPE_CHECKING:
    import pandas
    from typing_extensions import Unpack

    from ._options import Options
    from ._store import StoredStudy

_FORMAT = "functionspace-bo-study"


class Study:
    """An optimisation with its records, in memory.

    The options have the names of the study file. Suggestions come from a `bo` process that
    the study starts when it needs one; the process ends with the study. Methods may be called
    from several threads, and in forked processes, which then have independent copies.
    """

    def __init__(self, space: Space, **options: Unpack[Options]) -> None:
        self._definition, self._parameters = define(space, options)
        self._process = Process("suggest", "--pipe")
        self._asking = threading.Lock()  # held during a request
        self._lock = threading.RLock()  # guards the fields below
        self._trials: list[Trial] = []
        self._idle: set[int] = set()  # pending trials that are not being evaluated
        self._unsent: set[int] = set()  # trials that changed since the last answered request
        self._queue: list[Params] = []
        self._warm: Any = None
        on_fork(self)
        self._initial: int = self._request({"action": "check"})["initial"]
        self._objective, self._goal = objective_of(self._definition)

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> Study:
        """Returns a new study of a study file, YAML or JSON."""
        done = subprocess.run(
            [find_binary(), "validate", "--json", os.fspath(path)],
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
        )
        if not done.stdout:
            raise StudyError(done.stderr.strip().removeprefix("bo: "))
        answer = json.loads(done.stdout)
        if not answer["valid"]:
            faults = "; ".join(f["message"] for f in answer["faults"])
            raise StudyError(f"{answer['file']}: {faults}")
        return cls._of(answer["definition"])

    @classmethod
    def _of(cls, definition: Mapping[str, Any]) -> Study:
        options = {k: v for k, v in definition.items() if k not in ("version", "parameters")}
        return cls(definition["parameters"], **options)

    @staticmethod
    def open(store: str | os.PathLike[str], name: str) -> StoredStudy:
        """Returns a study in a store, which several processes may share.

        The store is an SQLite file such as bo.db, or the address of a PostgreSQL database.
        """
        from ._store import StoredStudy

        return StoredStudy(store, name)

    @staticmethod
    def create(
        store: str | os.PathLike[str], name: str, /, space: Space, **options: Unpack[Options]
    ) -> StoredStudy:
        """Stores a new study and returns it. The store is made if it does not exist."""
        from ._store import StoredStudy

        return StoredStudy.create(store, name, space, **options)

    @property
    def definition(self) -> dict[str, Any]:
        """The definition in the form of the study file."""
        copy: dict[str, Any] = json.loads(json.dumps(self._definition))
        return copy

    @property
    def goal(self) -> str:
        """minimize or maximize."""
        return self._goal

    @property
    def trials(self) -> list[Trial]:
        """Copies of all trials in the order of their numbers."""
        with self._lock:
            return [t.copy() for t in self._trials]

    @property
    def best(self) -> Trial:
        """The trial with the best observed value. Raises NoValueError if there is none."""
        with self._lock:
            found = best_trial(self._trials, self._goal)
        if found is None:
            raise NoValueError("no trial has a value")
        return found.copy()

    @overload
    def ask(self) -> Trial: ...

    @overload
    def ask(self, n: int) -> list[Trial]: ...

    def ask(self, n: int | None = None) -> Trial | list[Trial]:
        """Returns a trial to evaluate, or a list of n trials, to be passed to tell or fail.

        Trials of an interrupted run come first, then enqueued points, the initial design, and
        suggestions, each conditioned on the pending trials. The list is shorter than n if a
        noise-free objective on a finite space has no more points; ExhaustedError if it has
        none.
        """
        trials = [t.copy() for t in self._ask(1 if n is None else n)]
        return trials[0] if n is None else trials

    def tell(self, trial: Trial | int, value: float | Mapping[str, float]) -> Trial:
        """Records the value of a pending trial, or several numbers by name.

        Raises TrialError if the value is not finite; the trial is then still pending.
        """
        return self._tell(trial, value, 0.0)

    def fail(self, trial: Trial | int, message: str = "") -> Trial:
        """Records that a pending trial could not be evaluated."""
        return self._fail(trial, message, 0.0)

    def enqueue(self, params: Mapping[str, Any]) -> None:
        """Adds a point that ask returns ahead of the initial design and of suggestions."""
        point = self._point(params)
        with self._lock:
            self._queue.append(point)

    def add(self, params: Mapping[str, Any], value: float | Mapping[str, float]) -> Trial:
        """Records an evaluation made elsewhere as a new complete trial."""
        point = self._point(params)
        number, numbers = read_value(value, self._objective)
        with self._lock:
            t = Trial(len(self._trials) + 1, point, "complete", number, numbers, source="added")
            self._append(t)
            return t.copy()

    def recommend(self) -> Recommendation:
        """Returns the best trials by observed value and by posterior mean.

        Raises NoValueError if no trial is complete.
        """
        answer = self._request({"action": "recommend"})["recommendation"]
        trials = self.trials

        def estimate(key: str) -> Estimate:
            e = answer[key]
            return Estimate(trials[e["trial"] - 1], e["mean"], e["sd"])

        return Recommendation(estimate("observed"), estimate("model"))

    def run(
        self,
        f: Callable[[Params], float | Mapping[str, float]],
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

    def records(self) -> list[dict[str, Any]]:
        """Returns the trials as dictionaries."""
        return [t.record() for t in self.trials]

    def dataframe(self) -> pandas.DataFrame:
        """Returns the trials as a pandas data frame with a column for each parameter."""
        return frame(self.trials)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the whole study to a file, which load reads. A file there is replaced."""
        with self._lock:
            document = {
                "format": _FORMAT,
                "version": 1,
                "study": self._definition,
                "trials": [_saved(t) for t in self._trials],
                "queue": self._queue,
                "warm": self._warm,
            }
        _replace_file(Path(path), json.dumps(document))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Study:
        """Reads a study that save wrote. It makes the same suggestions.

        ask returns its pending trials first; they may also be told.
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
            return cls._restored(document)
        except StudyError as err:
            raise StudyError(f"{path}: {err}") from err
        except (AttributeError, KeyError, TypeError) as err:
            raise StudyError(f"{path}: damaged: {type(err).__name__}: {err}") from err

    @classmethod
    def _restored(cls, document: Mapping[str, Any]) -> Study:
        """Returns the study of a document that save wrote."""
        study = cls._of(document["study"])
        for saved in document["trials"]:
            t = study._loaded(saved)
            study._append(t)
            if t.state == "pending":
                study._idle.add(t.number)
        study._queue = [study._decode(p) for p in document["queue"]]
        study._warm = document["warm"]
        study._process.close()  # the next request sends the warm start
        return study

    def close(self) -> None:
        """Ends the `bo` process. The next call that needs one starts another."""
        with self._asking:
            self._process.close()

    def __enter__(self) -> Study:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        names = ", ".join(self._parameters)
        return f"<Study of {names}: {len(self._trials)} trials>"

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        for key in ("_process", "_asking", "_lock"):
            del state[key]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._process = Process("suggest", "--pipe")
        self._after_fork()
        on_fork(self)

    def _after_fork(self) -> None:
        self._asking = threading.Lock()
        self._lock = threading.RLock()

    def _ask(self, n: int) -> list[Trial]:
        n = _whole(n, "number of trials to ask")
        if n < 1:
            raise TrialError(f"{n} trials to ask, want at least 1")
        with self._lock:
            idle = sorted(self._idle)[:n]
            self._idle.difference_update(idle)
            asked = [self._trials[number - 1] for number in idle]
        if len(asked) < n:
            try:
                asked += self._propose(n - len(asked))
            except ExhaustedError:
                if not asked:
                    raise
            except BaseException:
                with self._lock:
                    self._idle.update(idle)
                raise
        return asked

    def _propose(self, n: int) -> list[Trial]:
        """Returns n new trials."""
        with self._asking:
            with self._lock:
                queue = list(self._queue)
            answer = self._exchange({"n": n, **({"queue": queue} if queue else {})})
            with self._lock:
                self._warm = answer.get("warm")
                asked = [self._asked(p) for p in answer["points"]]
                self._shorten(sum(t.source == "enqueued" for t in asked))
                return asked

    def _asked(self, point: dict[str, Any]) -> Trial:
        """Appends the trial of a suggestion."""
        predicted = point.get("prediction")
        t = Trial(
            len(self._trials) + 1,
            self._decode(point["params"]),
            source=point["source"],
            prediction=Prediction(**predicted) if predicted is not None else None,
            warnings=tuple(point.get("warnings", ())),
        )
        self._append(t)
        return t

    def _shorten(self, used: int) -> None:
        """Removes the used points from the queue, and points with a trial if noise-free."""
        if not is_noise_free(self._definition):
            del self._queue[:used]
            return
        tried = [t.params for t in self._trials]
        self._queue = [p for p in self._queue if p not in tried]

    def _append(self, t: Trial) -> None:
        with self._lock:
            self._trials.append(t)
            self._unsent.add(t.number)

    def _tell(
        self, trial: Trial | int, value: float | Mapping[str, float], seconds: float
    ) -> Trial:
        number, numbers = read_value(value, self._objective)
        return self._finish(trial, state="complete", value=number, numbers=numbers, seconds=seconds)

    def _fail(self, trial: Trial | int, message: str, seconds: float) -> Trial:
        return self._finish(trial, state="failed", message=str(message), seconds=seconds)

    def _finish(self, trial: Trial | int, **changes: Any) -> Trial:
        number = trial.number if isinstance(trial, Trial) else _whole(trial, "trial")
        with self._lock:
            if not 1 <= number <= len(self._trials):
                raise TrialError(f"no such trial: {number}")
            t = self._trials[number - 1]
            if t.state != "pending":
                raise TrialError(f"trial is already finished: trial {number} is {t.state}")
            t = self._trials[number - 1] = replace(t, **changes)
            self._idle.discard(number)
            self._unsent.add(number)
            return t.copy()

    def _interrupt(self, trial: Trial) -> None:
        """Marks a pending trial as one that is not being evaluated."""
        with self._lock:
            if self._trials[trial.number - 1].state == "pending":
                self._idle.add(trial.number)

    def _point(self, params: Mapping[str, Any]) -> Params:
        """Returns the values of a valid point, or raises RequestError."""
        if not isinstance(params, Mapping):
            raise RequestError(f"the point is {shown(params)}, want values by name")
        point = plain_params(params)
        for name, value in point.items():
            require_json(value, f'parameter "{name}"', RequestError)
        self._request({"action": "check", "queue": [point]})
        for name, p in self._parameters.items():
            if isinstance(p, Fixed) and p.when is None:
                point[name] = p.value
        return self._decode(point)

    def _decode(self, params: Mapping[str, Any]) -> Params:
        return {
            name: self._parameters[name].decode(v) if name in self._parameters else v
            for name, v in params.items()
        }

    def _request(self, request: dict[str, Any]) -> dict[str, Any]:
        with self._asking:
            return self._exchange(request)

    def _exchange(self, request: dict[str, Any]) -> dict[str, Any]:
        """Sends a request with all trials that the process lacks. The caller holds _asking."""
        fresh = self._process.start()
        with self._lock:
            numbers = range(1, len(self._trials) + 1) if fresh else sorted(self._unsent)
            trials = [_told(self._trials[number - 1]) for number in numbers]
            self._unsent.clear()
        document = {"trials": trials, **request}
        if fresh:
            document["study"] = self._definition
            if self._warm is not None:
                document["warm"] = self._warm
        try:
            return self._process.ask(document)
        except BaseException:
            with self._lock:
                self._unsent.update(numbers)
            if fresh:
                self._process.close()  # it has no study
            raise

    def _loaded(self, saved: dict[str, Any]) -> Trial:
        """Returns a trial that save wrote."""
        predicted = saved.pop("prediction", None)
        params = self._decode(saved.pop("params"))
        warnings = tuple(saved.pop("warnings", ()))
        prediction = Prediction(**predicted) if predicted is not None else None
        return Trial(params=params, prediction=prediction, warnings=warnings, **saved)


def _whole(number: Any, name: str) -> int:
    """Returns a whole number, or raises TrialError."""
    try:
        return operator.index(number)
    except TypeError:
        raise TrialError(f"the {name} is {shown(number)}, want a whole number") from None


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


def _told(t: Trial) -> dict[str, Any]:
    """Returns the form of a trial in a request."""
    out: dict[str, Any] = {"trial": t.number, "params": plain_params(t.params), "state": t.state}
    if t.value is not None:
        out["value"] = t.value
    return out


def _saved(t: Trial) -> dict[str, Any]:
    """Returns the form of a trial in a file."""
    out = dict(t.__dict__)
    if t.prediction is not None:
        out["prediction"] = t.prediction.__dict__
    return out
