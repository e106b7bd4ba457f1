"""The exceptions of this package. Each message is one line, as `bo` prints it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._trial import Result


class BoError(Exception):
    """Base class of all exceptions of this package."""

    result: Result | None = None
    """The result so far, if the exception ended a run."""


class StudyError(BoError, ValueError):
    """The definition of a study is invalid. The message names every fault."""


class RequestError(BoError, ValueError):
    """A trial, a point or another argument is invalid."""


class TrialError(BoError, ValueError):
    """There is no such trial, it has another result, or its value is not usable."""


class ExistsError(BoError):
    """The store has a study of the name."""


class ExhaustedError(BoError):
    """Every point of a finite space has a trial, or the budget of a stored study is used up."""


class NoValueError(BoError):
    """No trial has a value."""


class FailuresError(BoError):
    """The first trials failed alike, or more trials failed than allowed."""


class FitError(BoError):
    """The surrogate model could not be fitted."""


class StoppedError(BoError):
    """A function that `minimize` or `run` evaluates raises it to stop its trial early.

    The trial has the value of its last step, as if the rule in the option `stop` had stopped it.
    Without a step, or with several objectives, it fails. The message is the reason.
    """


class ProcessError(BoError, RuntimeError):
    """The `bo` process is missing, cannot be started, or ended unexpectedly.

    Results that were told are kept. The next call starts another process.
    """


class CommandError(BoError):
    """A verb of `bo` on a store, or a request to a service, failed in another way."""


_KINDS: dict[str, type[BoError]] = {
    "study": StudyError,
    "request": RequestError,
    "exhausted": ExhaustedError,
    "no-value": NoValueError,
}


def error_of(kind: str, message: str) -> BoError:
    """Returns the exception for an error that a `bo` process reports."""
    return _KINDS.get(kind, FitError)(message)
