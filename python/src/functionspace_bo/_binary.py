"""Finds and runs the `bo` executable that the wheel carries."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from .errors import ProcessError, RequestError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    T = TypeVar("T", bound=DataclassInstance)

_NAME = "bo.exe" if sys.platform == "win32" else "bo"

_ARGUMENTS = {
    "give another place with --store or BO_STORE": "Study.create makes a store",
    "; --correct replaces": "; correct=True replaces",
    "state them as bo tell --at does": "state them by at",
    "set failures: expected": 'state failures="expected"',
    "--lease is": "lease is",
    "--map: ": "maps: ",
}
"""Parts of messages that name a flag or a key, and the argument of Python in its place."""


def find_binary() -> str:
    """Returns the path of the `bo` executable.

    The environment variable BO_BINARY comes first, then the executable in the wheel, then
    PATH.
    """
    given = os.environ.get("BO_BINARY")
    if given:
        return given
    packaged = Path(__file__).parent / "bin" / _NAME
    if packaged.is_file():
        return str(packaged)
    found = shutil.which(_NAME)
    if found is None:
        raise ProcessError(f"there is no executable {packaged}: install a wheel, or set BO_BINARY")
    return found


def run_binary(arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Runs `bo` until it ends.

    Raises ProcessError if it cannot be started or is killed, RequestError if an argument has
    characters that no command line can have.
    """
    try:
        done = subprocess.run(
            [find_binary(), *arguments],
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
            stdin=subprocess.DEVNULL,
            check=False,
        )
    except OSError as err:
        raise ProcessError(f"bo cannot be started: {err}") from err
    except ValueError as err:  # NUL, or half of a surrogate pair
        raise RequestError(f"an argument is no text: {err}") from err
    if done.returncode < 0:
        raise ProcessError(f"bo ended unexpectedly ({ending(done.returncode)})")
    return done


def read_answer(text: str | bytes) -> Any:
    """Returns the JSON that `bo` printed, or raises ProcessError."""
    try:
        return json.loads(text)
    except ValueError as err:
        raise ProcessError(f"the output of {find_binary()} is no JSON: is it bo?") from err


def in_python(message: str) -> str:
    """Returns a message of `bo` with arguments of Python in place of flags of the command."""
    for flag, argument in _ARGUMENTS.items():
        message = message.replace(flag, argument)
    return message


def known(kind: type[T], row: Mapping[str, Any]) -> T:
    """Returns the dataclass of an object in an answer, without the keys of a newer `bo`."""
    names = {f.name for f in fields(kind)}
    return kind(**{name: v for name, v in row.items() if name in names})


def ending(code: int) -> str:
    """Describes the exit code of a process, which is negative after a signal."""
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"killed by signal {-code}"
