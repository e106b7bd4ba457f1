"""A `bo suggest` process that holds the trials of a study."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from ._process import Process
from ._trial import Trial


class Channel:
    """Sends only the trials that changed since the last answered request.

    The caller holds `busy` during exchange. The lock of the study guards `unsent`.
    """

    def __init__(self) -> None:
        self.process = Process("suggest", "--pipe")
        self.busy = threading.Lock()
        self.unsent: set[int] = set()  # trials that changed since the last answered request

    def exchange(
        self,
        request: dict[str, Any],
        told: Callable[[Trial], dict[str, Any]],
        head: Callable[[], dict[str, Any]],
        trials: list[Trial],
        lock: threading.RLock,
    ) -> dict[str, Any]:
        """Returns the answer to a request. A process that is started gets head and all trials.

        told returns the form of a trial in a request.
        """
        fresh = self.process.start()
        with lock:
            numbers = range(1, len(trials) + 1) if fresh else sorted(self.unsent)
            changed = [told(trials[number - 1]) for number in numbers]
            self.unsent.clear()
        document = {"trials": changed, **(head() if fresh else {}), **request}
        try:
            return self.process.ask(document)
        except BaseException:
            with lock:
                self.unsent.update(numbers)
            if fresh:
                self.process.close()  # it has no study
            raise

    def close(self) -> None:
        """Ends the process. The next request starts another."""
        with self.busy:
            self.process.close()

    def after_fork(self) -> None:
        """Replaces the lock, which another thread of the parent process may hold."""
        self.busy = threading.Lock()
