"""Evaluates a function at the trials of a stored study."""

from __future__ import annotations

import io
import json
import logging
import math
import os
import queue
import subprocess
import sys
import tempfile
import threading
from collections import defaultdict
from collections.abc import Callable, Mapping
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, SupportsFloat, TypeVar, cast

from ._binary import ending, find_binary, in_python, read_answer
from ._outcomes import NoNumberError, as_float, lacking, read_note
from ._process import on_fork
from ._progress import Progress
from ._reporter import LocalReporter, Receiver
from ._run import (
    OWN_RULE,
    PICKLABLE,
    Objective,
    Work,
    add_recommendation,
    check_executor,
    check_function,
    clear_frames,
    count,
    describe,
    explained,
    finite,
    logger,
    no_value,
    refusal,
    slots,
    takes_trial,
    unpicklable,
)
from ._trial import Result, Trial
from .errors import FailuresError, NoValueError, ProcessError, StoppedError, TrialError

if TYPE_CHECKING:
    from ._store import StoredStudy

T = TypeVar("T")
Reply = queue.SimpleQueue[dict[str, Any] | None]

_PATIENCE = 20.0  # seconds that bo has to store results and to release trials after its input
_TICK = 0.2  # seconds between looks for an interrupt


class StoredRun:
    """One call of StoredStudy.run.

    `bo evaluate` issues the trials under leases that it extends, and stores the results. If this
    process ends in any way, the input of `bo` ends, and `bo` releases the trials under way.
    """

    def __init__(
        self,
        study: StoredStudy,
        f: Objective,
        *,
        workers: int | None,
        executor: Executor | None,
        target: float | None,
        time_limit: float | None,
        max_failures: int | None,
        callback: Callable[[StoredStudy, Trial], Any] | None,
        progress: bool | None,
    ) -> None:
        check_function(f, callback)
        check_executor(executor, f)
        self._study = study
        self._f = f
        self._takes_trial = takes_trial(f)
        self._callback = callback
        definition = study.definition
        self._progress = Progress(
            progress, definition["budget"], study._outcomes, lambda: study.trials
        )
        self._workers: int = (
            count("workers", workers) or definition.get("workers") or slots(executor)
        )
        self._executor = executor
        self._submitted: set[Future[tuple[Any, float]]] = set()
        self._receiver: Receiver | None = None  # of reports by other processes
        self._broken: BrokenExecutor | None = None
        self._level = logging.INFO if definition.get("failures") == "expected" else logging.WARNING
        self._flags = [f"--workers={self._workers}"]
        flags, self._environment = study._evaluation(
            finite("target", target), count("max_failures", max_failures)
        )
        self._flags += flags
        if (seconds := finite("time", time_limit)) is not None:
            self._flags.append(f"--time={max(seconds, 1e-6):f}s")
        self._errors: dict[int, BaseException] = {}  # of the trials of this run
        self._cause: BaseException | None = None  # of the last failed trial
        self._begun = False  # whether a trial was evaluated
        self._succeeded = False  # whether a trial of this run has a value
        self._reporters: dict[int, LocalReporter] = {}  # of the trials of this run
        self._refused = ""  # the reason why a result without a number ends the run
        self._stopped = ""
        self._kind = ""
        self._sending = threading.Lock()
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._steps = threading.Lock()
        self._waiting: defaultdict[tuple[int, float], list[Reply]] = defaultdict(list)
        self._over = False  # bo takes no more steps
        self._error = ""  # with which bo ended

    def result(self) -> Result:
        """Runs, and returns the result."""
        interrupted = False
        with tempfile.TemporaryFile() as self._stderr:
            self._process = self._start()
            on_fork(self)
            try:
                self._serve()
            except KeyboardInterrupt:
                interrupted = True
            finally:
                self._end()
                self._progress.hide()
            self._error = self._last_error()
            if self._broken is not None:
                raise explained(self._broken)
            if self._refused and not self._kind:
                self._stopped, self._kind = self._refused, "failures"
            if not (interrupted or self._kind):
                raise ProcessError(self._error)
        if self._kind == "budget" and not self._begun:
            logger.warning(
                "no trial is evaluated: %s (bo study edit %s --budget N raises the budget)",
                self._stopped,
                self._study.name,
            )
        lost = ""
        if self._process.returncode != 0:
            lost = f"the last results may not be stored: {self._error}"
            logger.warning("%s", lost)  # a service that is away delays the result
        result = self._result(interrupted)
        if lost:
            result.warnings.append(lost)
        if not interrupted:
            self._check(result)
        if any(t.state == "complete" for t in result.trials) and (
            not interrupted or self._study._outcomes.several
        ):
            add_recommendation(self._study, result)
        return result

    def _start(self) -> subprocess.Popen[bytes]:
        options: dict[str, Any] = {"start_new_session": True}  # Ctrl-C does not reach bo
        if sys.platform == "win32":
            flags = subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW
            options = {"creationflags": flags}
        command = [find_binary(), "evaluate", *self._flags, "--", self._study.name]
        try:
            return subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._stderr,
                env={**os.environ, **self._environment},
                **options,
            )
        except OSError as err:
            raise ProcessError(f"bo cannot be started: {err}") from err

    def _after_fork(self) -> None:
        """Closes this process's copies of the pipes: bo ends with its input, in no other process.

        Their buffers stay as they are, because another thread may have been writing.
        """
        cast(io.BufferedWriter, self._process.stdin).raw.close()
        cast(io.BufferedReader, self._process.stdout).raw.close()

    def _serve(self) -> None:
        """Handles the lines of bo until the run ends. One worker evaluates in this thread."""
        threading.Thread(target=self._read, daemon=True).start()
        while line := _take(self._lines):
            message = read_answer(line)
            if "ended" in message:
                self._stopped, self._kind = in_python(message["ended"]), message["kind"]
            elif "warning" in message:
                logger.warning("%s", message["warning"])
            elif "result" in message:
                if self._recorded(self._study._trial(message["result"]), message):
                    self._stopped, self._kind = "the callback ended the run", "callback"
                    return
            else:
                self._begin(self._study._trial(message))

    def _read(self) -> None:
        """Puts the lines of bo, and an empty one at their end. Passes replies to reports."""
        assert self._process.stdout is not None
        with self._process.stdout as lines:
            for line in lines:
                if b'"step"' not in line or not self._answered(line):
                    self._lines.put(line)
        self._lines.put(b"")
        with self._steps:
            self._over = True
            for reports in self._waiting.values():
                for waiting in reports:
                    waiting.put(None)

    def _answered(self, line: bytes) -> bool:
        """Passes a reply to the report that waits for it. Reports whether the line is a reply."""
        with suppress(ValueError):
            reply = json.loads(line)
            if "step" in reply:
                with self._steps:
                    self._waiting[reply["trial"], reply["step"]].pop(0).put(reply)
                return True
        return False

    def _report(
        self, number: int, step: SupportsFloat, value: SupportsFloat, by: LocalReporter
    ) -> bool:
        """Records the value at a step and returns whether the trial is stopped."""
        at, reported = as_float(step, "step"), as_float(value)
        if not math.isfinite(at):
            raise TrialError(f"the step is {at}, want a finite number")
        waiting: Reply = queue.SimpleQueue()
        with self._steps:
            if self._over:
                return True
            self._waiting[number, at].append(waiting)
        usable = reported if math.isfinite(reported) else None
        self._send({"trial": number, "step": at, "value": usable})
        reply = _take(waiting)
        if reply is None:
            return True  # the run has ended
        if "error" in reply:
            raise TrialError(reply["error"])
        return bool(reply["stop"])

    def _begin(self, trial: Trial) -> None:
        """Evaluates f, in a thread of its own if there are several workers."""
        self._begun = True
        for error in (*self._errors.values(), self._cause):
            if error is not None:
                clear_frames(error)
        self._progress.started(trial)
        if self._workers == 1 and self._executor is None:
            self._evaluate(trial)
        else:
            threading.Thread(target=self._evaluate, args=(trial,), daemon=True).start()

    def _evaluate(self, trial: Trial) -> None:
        """Evaluates f and sends the outcome."""
        if self._takes_trial:
            trial = self._reporting(trial)
        answer: dict[str, Any] = {"trial": trial.number}
        try:
            value, answer["seconds"] = self._perform(Work(self._f, trial, self._takes_trial))
            answer["numbers"] = self._study._numbers(value)
            answer["note"] = read_note(value)
            lacks = lacking(answer["numbers"], self._study._declared(), self._study._outcomes.goals)
            if lacks is not None and self._refuse(trial.number, lacks):
                return
        except StoppedError as err:
            self._errors[trial.number] = err
            answer["seconds"] = getattr(err, "_bo_seconds", 0.0)
            answer["stop"] = str(err) or OWN_RULE
        except TrialError as err:
            wrong = isinstance(err, NoNumberError) and self._level == logging.WARNING
            if wrong and self._refuse(trial.number, err):
                return
            answer["failure"] = str(err) or "failed"
        except BrokenExecutor as err:  # bo issues the trial again
            self._broken = err
            self._lines.put(b"")
            return
        except BaseException as err:  # in a thread also SystemExit, which would end it silently
            alone = self._workers == 1 and self._executor is None
            if alone and not isinstance(err, Exception):
                raise
            self._errors[trial.number] = err
            answer["seconds"] = getattr(err, "_bo_seconds", 0.0)
            answer["failure"] = describe(err) + (PICKLABLE if unpicklable(err) else "")
        self._send(answer)

    def _refuse(self, number: int, error: TrialError) -> bool:
        """Ends the run at a result that lacks a number, unless a trial of the run has a value.

        The trial is issued again. The result of a stopped trial does not count.
        """
        reporter = self._reporters.get(number)
        if self._succeeded or (reporter is not None and reporter.stopped):
            return False
        self._refused = refusal(number, error)
        self._lines.put(b"")
        return True

    def _perform(self, work: Work) -> tuple[Any, float]:
        """Returns the value of f and the seconds that it took."""
        if self._executor is None:
            return work()
        future = self._executor.submit(work)
        self._submitted.add(future)
        try:
            return future.result()
        finally:
            self._submitted.discard(future)

    def _reporting(self, trial: Trial) -> Trial:
        """Returns a trial with a reporter."""
        local = self._reporters[trial.number] = LocalReporter(self, trial.number)
        if self._executor is None or isinstance(self._executor, ThreadPoolExecutor):
            return replace(trial, _reporter=local)
        with self._steps:
            if self._receiver is None:
                self._receiver = Receiver()
        return replace(trial, _reporter=self._receiver.reporter(trial.number, local))

    def _send(self, message: dict[str, Any]) -> None:
        text = json.dumps(message, allow_nan=False).encode() + b"\n"
        assert self._process.stdin is not None
        with self._sending, suppress(OSError, ValueError):  # bo has ended, which _serve reports
            self._process.stdin.write(text)
            self._process.stdin.flush()

    def _recorded(self, trial: Trial, counts: Mapping[str, int]) -> bool:
        """Logs a failure and calls the callback. Reports whether it ends the run."""
        self._succeeded = self._succeeded or trial.state in ("complete", "stopped")
        self._reporters.pop(trial.number, None)
        error = self._errors.pop(trial.number, None)
        if trial.state == "failed":
            self._cause = error
            self._progress.hide()
            text = "trial %d failed: %s"
            cause = None if unpicklable(self._cause) else self._cause
            logger.log(self._level, text, trial.number, trial.message, exc_info=cause)
        self._progress.ended(trial, counts)
        self._study._warn_unread(trial)
        return self._callback is not None and bool(self._callback(self._study, trial))

    def _end(self) -> None:
        """Closes the input of bo, which then releases the trials under way."""
        for future in self._submitted.copy():
            future.cancel()
        process = self._process
        with self._sending, suppress(OSError):
            assert process.stdin is not None
            process.stdin.close()
        try:
            process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if self._receiver is not None:
            self._receiver.close()

    def _last_error(self) -> str:
        """Returns the error with which bo ended."""
        self._stderr.seek(0)
        lines = self._stderr.read().decode(errors="replace").strip().splitlines()
        if lines:
            return in_python(lines[-1].removeprefix("bo: "))
        code = ending(self._process.returncode)
        return f"bo ended unexpectedly ({code}); all stored results are kept"

    def _result(self, interrupted: bool) -> Result:
        study = self._study
        stopped = "" if self._kind == "budget" else self._stopped
        return Result(
            study.trials,
            study._outcomes,
            interrupted=interrupted,
            stopped=stopped,
            definition=study.definition,
        )

    def _check(self, result: Result) -> None:
        """Raises the error of a run that failures ended, or that has no value."""
        if self._kind == "failures":
            fault: FailuresError | NoValueError = FailuresError(self._stopped)
        elif any(t.state == "complete" for t in result.trials):
            return
        else:
            fault = no_value(result.trials, self._stopped)
        fault.result = result
        raise fault from self._cause


def _take(lines: queue.SimpleQueue[T]) -> T:
    """Returns the next item. Ctrl-C interrupts it on all systems."""
    while True:
        with suppress(queue.Empty):
            return lines.get(timeout=_TICK)
