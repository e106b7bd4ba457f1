"""Connects trials that are evaluated with the rule that stops poor trials."""

from __future__ import annotations

import json
import os
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol, SupportsFloat

from ._outcomes import as_float
from .errors import BoError, ProcessError, TrialError

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

_PAUSE = 0.1  # seconds until another attempt to accept a connection


class Reporter(Protocol):
    """Takes the steps of one trial. stopped is true after the rule has stopped the trial."""

    stopped: bool

    def report(self, step: SupportsFloat, value: SupportsFloat) -> bool:
        """Records the value at a step, and reports whether the trial is stopped."""


class Reporting(Protocol):
    """A study that takes steps."""

    def _report(
        self, number: int, step: SupportsFloat, value: SupportsFloat, by: LocalReporter
    ) -> bool: ...


class LocalReporter:
    """The reporter of a trial in the process of the study.

    `stopped` is also set when the run of the trial ends, so that its evaluation returns soon.
    """

    def __init__(self, study: Reporting, number: int) -> None:
        self.stopped = False
        self._study = study
        self._number = number

    def report(self, step: SupportsFloat, value: SupportsFloat) -> bool:
        self.stopped = self.stopped or self._study._report(self._number, step, value, self)
        return self.stopped

    def __reduce__(self) -> tuple[Any, ...]:
        return type(None), ()  # a pickled trial has no reporter


class Receiver:
    """Takes the steps of trials that other processes of this machine evaluate."""

    def __init__(self) -> None:
        from multiprocessing.connection import Listener

        self._key = os.urandom(32)
        self._listener = Listener()
        self._closed = False
        self._reporters: dict[int, LocalReporter] = {}
        threading.Thread(target=self._accept, daemon=True).start()

    def reporter(self, number: int, local: LocalReporter) -> RemoteReporter:
        """Returns a reporter that can be pickled, for a trial with a local reporter."""
        self._reporters[number] = local
        return RemoteReporter(self._listener.address, self._key, number)

    def close(self) -> None:
        """Ends the service. Later reports raise ProcessError."""
        from multiprocessing.connection import Client

        self._closed = True
        with suppress(OSError):  # the thread waits in accept, which close does not end
            Client(self._listener.address).close()
        self._listener.close()

    def _accept(self) -> None:
        while not self._closed:
            try:
                connection = self._listener.accept()
            except OSError:  # closed, or too many files are open
                time.sleep(_PAUSE)
                continue
            if self._closed:
                connection.close()
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: Connection) -> None:
        """Answers one process, which may end at any time. Another one does not wait for it."""
        from multiprocessing import AuthenticationError
        from multiprocessing.connection import answer_challenge, deliver_challenge

        with connection, suppress(AuthenticationError, EOFError, OSError):
            deliver_challenge(connection, self._key)
            answer_challenge(connection, self._key)
            while True:
                number, step, value = json.loads(connection.recv_bytes())
                try:
                    answer: Any = self._reporters[number].report(step, value)
                except TrialError as err:
                    answer = str(err)
                except BoError as err:
                    answer = {"error": str(err)}
                connection.send_bytes(json.dumps(answer).encode())


class RemoteReporter:
    """The reporter of a trial in another process. It connects with the first report."""

    def __init__(self, address: Any, key: bytes, number: int) -> None:
        self.stopped = False
        self._address = address
        self._key = key
        self._number = number
        self._connection: Connection | None = None

    def report(self, step: SupportsFloat, value: SupportsFloat) -> bool:
        if self.stopped:
            return True
        message = json.dumps([self._number, as_float(step, "step"), as_float(value)])  # NaN passes
        try:
            if self._connection is None:
                from multiprocessing.connection import Client

                self._connection = Client(self._address, authkey=self._key)
            self._connection.send_bytes(message.encode())
            answer = json.loads(self._connection.recv_bytes())
        except (EOFError, OSError) as err:
            raise ProcessError(f"the process of the study takes no reports: {err}") from err
        if isinstance(answer, str):
            raise TrialError(answer)
        if isinstance(answer, dict):
            raise ProcessError(answer["error"])
        self.stopped = answer
        return self.stopped

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_connection": None}
