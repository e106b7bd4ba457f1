"""A `bo` process that answers requests over a pipe, one line of JSON each."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import weakref
from typing import IO, Any

from ._binary import ending, find_binary, read_answer
from .errors import ProcessError, error_of

_CHUNK = 1 << 16
_PATIENCE = 2.0  # seconds that a process has to end after its input


class Process:
    """A lazily started process of one `bo` verb.

    The caller makes sure that calls run one after another. A forked child starts a process of
    its own. A process that ended, or whose answer was not awaited, is replaced.
    """

    def __init__(self, *arguments: str) -> None:
        self._arguments = arguments
        self._running: _Running | None = None
        on_fork(self)

    def start(self) -> bool:
        """Starts the process unless it runs. Reports whether it was started.

        Raises ProcessError if the process ended by itself since the last answer.
        """
        running = self._running
        if running is not None and running.alive():
            return False
        if running is not None:
            self._running = None
            raise running.fault()
        self._running = _Running(self._arguments)
        return True

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """Returns the answer to a request, or raises the error that the process reports."""
        running = self._running
        if running is None:
            raise ProcessError("bo is not started")
        text = json.dumps(request, allow_nan=False, separators=(",", ":")).encode()
        try:
            line = running.exchange(text + b"\n")
        except BaseException:  # also KeyboardInterrupt: a later answer must not be mistaken
            self._running = None
            running.kill()
            raise
        answer: dict[str, Any] = read_answer(line)
        if "error" in answer:
            raise error_of(answer.get("kind", ""), answer["error"])
        return answer

    def close(self) -> None:
        """Ends the process, if any."""
        running, self._running = self._running, None
        if running is not None:
            running.end()

    def _after_fork(self) -> None:
        running, self._running = self._running, None
        if running is not None:
            running.abandon()


class _Running:
    """A process with the ends of its pipes."""

    def __init__(self, arguments: tuple[str, ...]) -> None:
        # A session of its own: Ctrl-C in the terminal does not reach the process.
        options: dict[str, Any] = {"start_new_session": True}
        if sys.platform == "win32":
            flags = subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW
            options = {"creationflags": flags}
        self._stderr: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115
        try:
            self._process = subprocess.Popen(
                [find_binary(), *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._stderr,
                bufsize=0,
                **options,
            )
        except OSError as err:
            self._stderr.close()
            raise ProcessError(f"bo cannot be started: {err}") from err
        self._rest = bytearray()
        self._busy = threading.Event()  # set during an exchange
        self._finalizer = weakref.finalize(
            self, _end, self._process, self._stderr, self._busy, os.getpid()
        )

    def alive(self) -> bool:
        return self._process.poll() is None

    def exchange(self, request: bytes) -> bytes:
        """Writes a request and reads one line."""
        self._busy.set()
        try:
            return self._exchange(request)
        finally:
            self._busy.clear()

    def _exchange(self, request: bytes) -> bytes:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        rest = memoryview(request)
        try:
            while rest:
                rest = rest[self._process.stdin.write(rest) :]
        except OSError as err:
            raise self.fault() from err
        parts = self._rest
        while not parts.endswith(b"\n"):  # one answer at a time
            chunk = self._process.stdout.read(_CHUNK)
            if not chunk:
                raise self.fault()
            parts += chunk
        self._rest = bytearray()
        return bytes(parts)

    def fault(self) -> ProcessError:
        """Describes the end of the process."""
        try:
            code = self._process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            return ProcessError("bo closed its output")
        self._stderr.seek(0)
        lines = self._stderr.read().decode(errors="replace").strip().splitlines()
        self._busy.clear()  # no answer follows
        self.end()
        reason = f": {lines[0].removeprefix('bo: ')}" if lines else ""
        return ProcessError(
            f"bo ended unexpectedly ({ending(code)}){reason}; all told results are kept"
        )

    def end(self) -> None:
        """Closes the input, which ends the process."""
        self._finalizer()

    def kill(self) -> None:
        self._process.kill()
        self.end()

    def abandon(self) -> None:
        """Closes this process's copies of the pipes after a fork."""
        self._finalizer.detach()
        _close_pipes(self._process, self._stderr)
        self._process.returncode = 0  # it is not a child of this process


def _end(
    process: subprocess.Popen[bytes], stderr: IO[bytes], busy: threading.Event, owner: int
) -> None:
    """Ends a process that this process started.

    At the exit of the interpreter a daemon thread may still wait for an answer. The process then
    ends with its input, when this process ends.
    """
    if os.getpid() != owner:
        return
    if busy.is_set():
        process.returncode = 0  # no warning that it still runs
        return
    _close_pipes(process, stderr)
    try:
        process.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _close_pipes(process: subprocess.Popen[bytes], stderr: IO[bytes]) -> None:
    for stream in (process.stdin, process.stdout, stderr):
        if stream is not None:
            stream.close()


_forked: weakref.WeakSet[Any] = weakref.WeakSet()  # objects with a method _after_fork


def _after_fork() -> None:
    for thing in list(_forked):
        thing._after_fork()


def on_fork(thing: Any) -> None:
    """Calls thing._after_fork in every forked child while thing exists."""
    _forked.add(thing)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
