"""minimize: a study and a run in one call."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from typing import TYPE_CHECKING, Any

from ._documented import with_options
from ._outcomes import Value
from ._space import Space
from ._study import Study
from ._trial import Result, Trial
from .errors import StudyError

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import Options

_OF_PROGRAMS = ("builtin", "command", "shell", "timeout")


@with_options(*_OF_PROGRAMS)
def minimize(
    f: Callable[..., Value | None],
    space: Space,
    *,
    executor: Executor | None = None,
    target: float | None = None,
    time: float | None = None,
    max_failures: int | None = None,
    callback: Callable[[Study, Trial], Any] | None = None,
    progress: bool | None = None,
    **options: Unpack[Options],
) -> Result:
    """Minimises f over a space, or maximises it with goal="maximize".

    f takes the parameters as a dictionary; pass a function of keyword arguments as lambda p:
    f(**p). It returns a number, or a dictionary of numbers with the objectives and the numbers of
    `require` among them, or a tuple with a number for each of several objectives. If f has a
    further parameter named trial, it also gets the running trial, for trial.report(step, value) and
    trial.should_stop() with the option stop.

    An exception, NaN and an infinity make a failed trial, which the logger functionspace_bo reports
    with the traceback. If the first three trials fail alike, FailuresError ends the run unless
    failures="expected"; its __cause__ is the exception of the last trial. A result without a number
    of the objectives or of `require` also ends the run, if no trial of the run has a value.

    Ctrl-C ends the run; the result so far is returned. Evaluations in threads then go on until they
    return, with trial.should_stop() true, and their values are lost.

    Args:
        f: The objective.
        space: Parameters by name, such as {"lr": Float(1e-5, 0.1, log=True), "opt": ["a", "b"]}.
        executor: Evaluates f, for example in processes. The default is threads. State workers for
            an executor of another library.
        target: The run ends when a trial is at least as good.
        time: The run starts no trial after so many seconds.
        max_failures: FailuresError ends the run when more trials have failed; with 0 at the first
            failure.
        callback: Is called with the study and each finished trial. The run ends if it returns
            a true value.
        progress: Reports progress on standard error. The default is in terminals and notebooks.
        **options: Options of the study file:
            {options}

    Returns:
        The trials, with the best one, or with the Pareto front of several objectives. An
        exception that ends the run has the result so far in its attribute result.

    With one worker, or with batch, the evaluated points equal the points of loop.Minimize in Go
    for the same options. With more workers and no batch, no worker waits for another.
    """
    for key in _OF_PROGRAMS:
        if key in options:
            instead = "time ends the run" if key == "timeout" else "minimize evaluates f"
            raise StudyError(f"{key} is for programs: {instead}")
    with Study(space, **options) as study:
        return study.run(
            f,
            executor=executor,
            target=target,
            time=time,
            max_failures=max_failures,
            callback=callback,
            progress=progress,
        )
