"""Evaluates an objective until the budget of a study is used up."""

from __future__ import annotations

import functools
import inspect
import logging
import math
import operator
import pickle
import re
import time
import traceback
from collections.abc import Callable, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    Executor,
    Future,
    ThreadPoolExecutor,
    wait,
)
from contextlib import suppress
from dataclasses import dataclass, replace
from threading import Thread
from typing import TYPE_CHECKING, Any

from ._end import End
from ._labels import shown
from ._outcomes import NoNumberError, Value, as_float
from ._progress import Progress, count_finished
from ._reporter import LocalReporter, Receiver
from ._trial import Result, Trial
from .errors import (
    BoError,
    ExhaustedError,
    FailuresError,
    NoValueError,
    StoppedError,
    StudyError,
    TrialError,
)

if TYPE_CHECKING:
    from ._store import StoredStudy
    from ._study import Study

logger = logging.getLogger("functionspace_bo")

Objective = Callable[..., Value | None]

OWN_RULE = "a rule of the function"
"""The reason of a StoppedError without a message."""

PICKLABLE = (
    " (a function for other processes, and its value, must be picklable: define the function at "
    "the top level of a module)"
)
_BROKEN = (
    "A process of the executor has ended. The function may have ended it, for example for lack of "
    "memory. A process also ends if it does not find the function: define functions of a notebook "
    "in a module."
)
_DEFAULT_BUDGET = 50
_ALIKE = 3  # first trials that end a run if all fail with the same message, numbers aside
_NUMBER = re.compile(r"-?(0x[0-9a-fA-F]+|[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?)")
_TICK = 0.2  # seconds between looks at the clock while evaluations run


class Run:
    """One run of a study.

    With batches or a single worker the run consists of rounds, as loop.Minimize in Go: the rest
    of the initial design, then batches. Otherwise no worker waits for another.
    """

    def __init__(
        self,
        study: Study,
        f: Objective,
        *,
        budget: int | None,
        workers: int | None,
        executor: Executor | None,
        target: float | None,
        time_limit: float | None,
        max_failures: int | None,
        callback: Callable[[Study, Trial], Any] | None,
        progress: bool | None,
    ) -> None:
        check_function(f, callback)
        check_executor(executor, f)
        budget, workers = count("budget", budget), count("workers", workers)
        max_failures = count("max_failures", max_failures, least=0)
        target, time_limit = finite("target", target), finite("time", time_limit)
        if target is not None and study._outcomes.several:
            raise StudyError("target is for one objective")
        definition = study.definition
        self._study = study
        self._f = f
        self._takes_trial = takes_trial(f)
        self._receiver: Receiver | None = None  # of reports by other processes
        self._reporters: dict[int, LocalReporter] = {}
        self._budget: int = budget or definition.get("budget") or _DEFAULT_BUDGET
        self._batch: int | None = definition.get("batch")
        self._workers: int = workers or definition.get("workers") or slots(executor)
        self._executor = executor
        self._end = End(
            definition.get("end") or {},
            study._limits,
            target=target,
            seconds=time_limit,
            max_failures=max_failures,
        )
        self._callback = callback
        self._expected = definition.get("failures") == "expected"
        self._flying: dict[Future[tuple[Any, float]], Trial] = {}
        self._begun: set[int] = set()  # numbers of the trials that were started
        self._first: list[str] | None = []  # messages of the first trials; None after a success
        self._cause: BaseException | None = None  # exception of the last failed trial
        self._stopped: str | BoError = ""  # the reason why no further trial is started
        self._progress = Progress(progress, self._budget, study._outcomes, lambda: study._trials)

    def result(self) -> Result:
        """Runs, and returns the result."""
        interrupted = False
        error: BaseException | None = None
        finished = count_finished(self._study._trials)
        if finished >= self._budget:
            logger.warning(
                "no trial is evaluated: the budget is %d, and the study has %d finished trials",
                self._budget,
                finished,
            )
        try:
            if self._workers > 1 and self._batch is None:
                self._stream()
            else:
                self._rounds()
        except KeyboardInterrupt:
            interrupted = True
        except ExhaustedError as err:
            self._stopped = str(err)
        except BaseException as err:
            error = err
            raise
        finally:
            self._leave()
            self._progress.hide()
            if error is not None:  # f or the callback ended the run, or bo failed
                with suppress(AttributeError):
                    setattr(error, "result", self._result(False))  # noqa: B010
        result = self._result(interrupted)
        fault = self._fault(result)
        if fault is not None and not interrupted:
            fault.result = result
            raise fault from self._cause
        if result.trials and (not interrupted or self._study._outcomes.several):
            add_recommendation(self._study, result)
        return result

    def _leave(self) -> None:
        """Ends the evaluations in progress. Values that have arrived are told."""
        for future, trial in self._flying.items():
            if trial.number in self._reporters:
                self._reporters[trial.number].stopped = True
            self._study._interrupt(trial)
            if future.cancel() or not future.done() or future.exception() is not None:
                continue
            with suppress(TrialError):
                self._study._tell(trial, *future.result())
        if self._receiver is not None:
            self._receiver.close()

    def _rounds(self) -> None:
        while not self._stopped:
            n = self._round()
            if n == 0:
                return
            trials = self._study.ask(n)
            try:
                for trial in trials:
                    while len(self._flying) >= self._workers or self._waits():
                        self._collect()
                    if self._ended():
                        break
                    self._start(trial)
                while self._flying:
                    self._collect()
            finally:
                for trial in trials:
                    self._study._interrupt(trial)

    def _round(self) -> int:
        """Returns the size of the next round. An interrupted round is finished first."""
        trials = self._study._trials
        idle = len(self._study._idle)
        n = idle or max(self._batch or 1, self._study._initial - len(trials))
        return max(0, min(n, self._budget - count_finished(trials)))

    def _stream(self) -> None:
        while True:
            while len(self._flying) < self._workers and not self._ended() and not self._waits():
                if count_finished(self._study._trials) + len(self._flying) >= self._budget:
                    break
                try:
                    trial = self._study.ask()
                except ExhaustedError:
                    if not self._flying:
                        raise
                    break
                if self._ended():
                    self._study._interrupt(trial)
                    break
                self._start(trial)
            if not self._flying:
                return
            self._collect()

    def _start(self, trial: Trial) -> None:
        """Starts the evaluation of a trial, or performs it if there is one worker."""
        self._begun.add(trial.number)
        self._progress.started(trial)
        work = Work(self._f, trial.copy(), self._takes_trial)
        if self._takes_trial:
            work = replace(work, trial=self._reporting(work.trial))
        future: Future[tuple[Any, float]] = Future()
        if self._executor is not None:
            future = self._executor.submit(work)
        self._flying[future] = trial
        if self._executor is None and self._workers == 1:
            _complete(future, work)
        elif self._executor is None:
            Thread(target=_complete, args=(future, work), daemon=True).start()

    def _reporting(self, trial: Trial) -> Trial:
        """Returns a trial with a reporter."""
        local = LocalReporter(self._study, trial.number)
        self._reporters[trial.number] = local
        if self._executor is None or isinstance(self._executor, ThreadPoolExecutor):
            return replace(trial, _reporter=local)
        if self._receiver is None:
            self._receiver = Receiver()
        return replace(trial, _reporter=self._receiver.reporter(trial.number, local))

    def _collect(self) -> None:
        """Waits for evaluations and records the outcome of each."""
        done, _ = wait(self._flying, _TICK, FIRST_COMPLETED)
        for future in sorted(done, key=lambda future: self._flying[future].number):
            self._record(self._flying[future], future)
            del self._flying[future]

    def _record(self, trial: Trial, future: Future[tuple[Any, float]]) -> None:
        """Tells the outcome of an evaluation. An interrupted trial stays pending.

        The outcome of a stopped trial does not count.
        """
        error = future.exception()
        if isinstance(error, BrokenExecutor):
            raise explained(error)
        if not isinstance(error, (Exception, type(None))):
            raise error
        stopped = self._study._trials[trial.number - 1]
        if stopped.state == "stopped":
            told = stopped.copy()
        elif isinstance(error, StoppedError):
            seconds = getattr(error, "_bo_seconds", 0.0)
            told = self._study._stop(trial, str(error) or OWN_RULE, seconds)
        elif error is not None:
            seconds = getattr(error, "_bo_seconds", 0.0)
            told = self._study._fail(trial, describe(error), seconds)
        else:
            value, seconds = future.result()
            try:
                told = self._study._tell(trial, value, seconds)
            except TrialError as err:
                wrong = isinstance(err, NoNumberError) and not self._expected
                if (wrong or self._study._outcomes.misses(value)) and not self._succeeded():
                    self._refuse(trial, err)
                    return
                told = self._study._fail(trial, str(err), seconds)
        if told.state == "failed":
            self._failed(told, error)
        self._progress.ended(told)
        self._look(told)
        if unpicklable(error) and not self._stopped and not self._succeeded():
            self._stopped = FailuresError(told.message + PICKLABLE)
        if error is not None and not self._stopped:
            clear_frames(error)
        if self._callback is not None and self._callback(self._study, told):
            self._stopped = self._stopped or "the callback ended the run"

    def _refuse(self, trial: Trial, error: TrialError) -> None:
        """Ends the run at a result that lacks a number.

        A wrong name, or a missing return, then costs one evaluation.
        """
        self._study._interrupt(trial)
        self._stopped = self._stopped or FailuresError(refusal(trial.number, error))

    def _succeeded(self) -> bool:
        """Reports whether a trial of this run has a value."""
        trials = self._study._trials
        return any(trials[number - 1].state in ("complete", "stopped") for number in self._begun)

    def _failed(self, trial: Trial, error: Exception | None) -> None:
        """Logs a failed trial with the traceback of its exception, if it has one."""
        self._cause = error
        level = logging.INFO if self._expected else logging.WARNING
        self._progress.hide()
        cause = None if unpicklable(error) else error
        logger.log(level, "trial %d failed: %s", trial.number, trial.message, exc_info=cause)

    def _look(self, trial: Trial) -> None:
        """Ends the run after a trial that calls for it."""
        target = self._end.target
        if trial.state == "failed":
            own = [t for t in self._study._trials if t.source != "added"]
            failed = sum(t.state == "failed" for t in own)
            if self._end.max_failures is not None and failed > self._end.max_failures:
                self._stopped = FailuresError(
                    f"too many trials failed: {failed}, the last one with: {trial.message}"
                )
        elif trial.value is not None and trial.feasible is not False and target is not None:
            sign = -1 if self._study.goal == "maximize" else 1
            if sign * trial.value <= sign * target:
                self._stopped = f"the target is reached: trial {trial.number} has {trial.value:.6g}"
        if self._first is None or self._expected:
            return
        message = _NUMBER.sub("0", trial.message)
        if trial.state != "failed" or (self._first and self._first[0] != message):
            self._first = None
            return
        self._first.append(message)
        if len(self._first) == _ALIKE:
            self._stopped = FailuresError(
                f"too many trials failed: the first {_ALIKE} failed alike: {trial.message} "
                '(state failures="expected" if that may happen; max_failures=0 ends a run at the '
                "first failure)"
            )

    def _ended(self) -> bool:
        """Reports whether no further trial is started."""
        trials = self._study._trials
        values = sum(t.state == "complete" for t in trials)
        self._stopped = (
            self._stopped
            or self._end.late()
            or self._end.spent(trials)
            or self._end.certain(self._study._regret, values)
        )
        return bool(self._stopped)

    def _waits(self) -> bool:
        """Reports whether the running trials may use up the cost."""
        running = len(self._flying)
        return running > 0 and not self._end.affordable(self._study._trials, running)

    def _result(self, interrupted: bool) -> Result:
        trials = self._study.trials
        waiting = self._study._idle - self._begun
        while trials and trials[-1].number in waiting:  # reports need numbers without gaps
            del trials[-1]
        warnings: list[str] = []
        for t in trials:
            for text in t.warnings:
                if not any(w.endswith(text) for w in warnings):
                    warnings.append(f"trial {t.number}: {text}")
        ended = [t for t in trials if t.source != "added" and t.state != "pending"]
        failed = [t.message for t in ended if t.state == "failed"]
        if failed and not self._expected:
            warnings.append(
                f"{len(failed)} of {len(ended)} evaluations failed, the first one with: {failed[0]}"
            )
        stopped = "" if isinstance(self._stopped, BoError) else self._stopped
        return Result(
            trials,
            self._study._outcomes,
            warnings=warnings,
            interrupted=interrupted,
            stopped=stopped,
            definition=self._study.definition,
        )

    def _fault(self, result: Result) -> BoError | None:
        """Returns the error of a run that has no result, or that failures ended."""
        if isinstance(self._stopped, BoError):
            return self._stopped
        if any(t.state == "complete" for t in result.trials):
            return None
        return no_value(result.trials, result.stopped)


def refusal(number: int, error: TrialError) -> str:
    """Returns the message of a run that a result without a number ends."""
    return f"trial {number} stays pending: {error} (for a failed trial raise an exception)"


def no_value(trials: Sequence[Trial], end: str) -> NoValueError:
    """Returns the error of a run without a complete trial, which ended for a reason."""
    failed = [t for t in trials if t.state == "failed"]
    early = sum(t.state == "stopped" for t in trials)
    total = len(failed) + early
    if total == 0:
        reason = f"no trial has ended: {end}"
    elif not failed:
        reason = f"all {total} evaluations were stopped early"
    elif early == 0:
        reason = f"all {total} evaluations failed, the last one with: {failed[-1].message}"
    else:
        reason = (
            f"of {total} evaluations {early} were stopped early, and the others failed, "
            f"the last one with: {failed[-1].message}"
        )
    return NoValueError(f"no trial has a value: {reason}")


def add_recommendation(study: Study | StoredStudy, result: Result) -> None:
    """Adds the recommendation, or the Pareto front. Without a fit there is a warning."""
    try:
        if study._outcomes.several:
            result.pareto = study.pareto()
            if not result.interrupted:
                result.pareto = study.pareto(model=True)
        else:
            result.recommendation = study.recommend()
    except KeyboardInterrupt:
        result.interrupted = True
    except BoError as err:
        result.warnings.append(f"there is no recommendation, as the last fit failed: {err}")


def check_function(f: Any, callback: Any) -> None:
    """Raises TypeError for a value that is no function to evaluate, or no callback."""
    if not callable(f):
        raise TypeError(f"f is {shown(f)}, want a function of the parameters")
    if inspect.iscoroutinefunction(f):
        raise TypeError(
            "f is a coroutine function, want a function that returns a number, such as "
            "lambda p: asyncio.run(f(p)); in a running event loop use Study.ask and tell"
        )
    if not (callback is None or callable(callback)):
        raise TypeError(f"callback is {shown(callback)}, want a function of study and trial")


def count(name: str, number: Any, least: int = 1) -> int | None:
    """Returns an argument that is a whole number, least or more, or raises StudyError."""
    if number is None:
        return None
    try:
        count = operator.index(number)
    except TypeError:
        raise StudyError(
            f"{name} is {shown(number)}, want a whole number, {least} or more"
        ) from None
    if count < least:
        raise StudyError(f"{name} is {count}, want {least} or more")
    return count


def finite(name: str, number: Any) -> float | None:
    """Returns an argument that is a finite number, or raises StudyError."""
    if number is None:
        return None
    try:
        value = as_float(number, name)
    except TrialError:
        value = math.nan
    duration = name == "time"
    if not math.isfinite(value) or isinstance(number, bool) or (duration and value < 0):
        unit = " of seconds, 0 or more" if duration else ""
        raise StudyError(f"{name} is {shown(number)}, want a finite number{unit}")
    return value


def check_executor(executor: Executor | None, f: Objective) -> None:
    """Raises TypeError if an executor has no method submit, or if f cannot reach its processes."""
    if executor is not None and not callable(getattr(executor, "submit", None)):
        raise TypeError(
            f"executor is {shown(executor)}, want an executor with the method submit, such as "
            "ProcessPoolExecutor(4) of concurrent.futures"
        )
    if executor is None or isinstance(executor, ThreadPoolExecutor):
        return
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing.reduction import ForkingPickler

    if isinstance(executor, ProcessPoolExecutor):
        try:
            ForkingPickler.dumps(f)
        except Exception as err:
            raise TypeError(
                f"f is {shown(f)}, which cannot be pickled for the processes of executor: define "
                "the function at the top level of a module, or state workers in place of executor, "
                f"which evaluates in threads ({describe(err)})"
            ) from None


def slots(executor: Executor | None) -> int:
    """Returns the number of evaluations that an executor performs at a time, or 1."""
    slots = int(getattr(executor, "_max_workers", None) or 0)
    if executor is not None and slots == 0:
        logger.warning(
            "one trial is evaluated at a time, as the executor %s has no known number of workers: "
            "state workers",
            type(executor).__name__,
        )
    return slots or 1


def takes_trial(f: Objective) -> bool:
    """Reports whether f has a parameter named trial that is not its first one.

    A decorated function has it if the decorator passes keyword arguments on.
    """
    if isinstance(f, functools.partial) and "trial" in f.keywords:
        return False
    try:
        outer = inspect.signature(f, follow_wrapped=False).parameters.values()
        parameters = list(inspect.signature(f).parameters.values())
    except (TypeError, ValueError):  # f is implemented in C
        return False
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    passes = any(p.name == "trial" or p.kind == inspect.Parameter.VAR_KEYWORD for p in outer)
    return passes and any(p.name == "trial" and p.kind in kinds for p in parameters[1:])


@dataclass(frozen=True)
class Work:
    """One evaluation. It can be pickled if f can."""

    f: Objective
    trial: Trial
    takes_trial: bool

    def __call__(self) -> tuple[Any, float]:
        """Returns the value of f and the seconds that it took."""
        options = {"trial": self.trial} if self.takes_trial else {}
        started = time.perf_counter()
        try:
            value = self.f(dict(self.trial.params), **options)
        except Exception as err:
            err._bo_seconds = time.perf_counter() - started  # type: ignore[attr-defined]
            raise
        return value, time.perf_counter() - started


def _complete(future: Future[tuple[Any, float]], work: Work) -> None:
    """Evaluates f and stores the outcome in future."""
    future.set_running_or_notify_cancel()
    try:
        future.set_result(work())
    except BaseException as err:
        future.set_exception(err)


def unpicklable(error: BaseException | None) -> bool:
    """Reports whether an exception comes from pickling a Work or its outcome, not from f."""
    if error is None or hasattr(error, "_bo_seconds"):
        return False
    return isinstance(error, pickle.PicklingError) or (
        isinstance(error, (TypeError, AttributeError)) and "pickle" in str(error)
    )


def explained(error: BrokenExecutor) -> BrokenExecutor:
    """Adds the usual reasons to the error of an executor, from Python 3.11 on."""
    if hasattr(error, "add_note"):
        error.add_note(_BROKEN)
    return error


def clear_frames(error: BaseException) -> None:
    """Frees the local variables of the traceback of an exception, such as large arrays."""
    seen: BaseException | None = error
    while seen is not None:
        traceback.clear_frames(seen.__traceback__)
        seen = seen.__context__


def describe(error: BaseException) -> str:
    """Describes an exception on one line."""
    text = "; ".join(str(error).split("\n")).strip()
    name = type(error).__name__
    return f"{name}: {text}" if text else name
