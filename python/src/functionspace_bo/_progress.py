"""Reports the progress of a run in a terminal, a notebook or a file."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import Any

from ._outcomes import Outcomes
from ._trial import Trial
from .errors import NoValueError


class Progress:
    """A line that is rewritten in a terminal or notebook, and a line for each improvement.

    Elsewhere there is no output unless it is requested: then a line for each trial. earlier returns
    the trials of the study before the run, and is not called without output.
    """

    def __init__(
        self,
        wanted: bool | None,
        budget: int,
        outcomes: Outcomes,
        earlier: Callable[[], list[Trial]],
    ) -> None:
        self._budget = budget
        self._outcomes = outcomes
        self._display = _notebook() if wanted is not False else None
        terminal = self._display is None and sys.stderr is not None and sys.stderr.isatty()
        self._live = wanted is not False and (self._display is not None or terminal)
        self._lines = bool(wanted) and not self._live
        self._started = time.monotonic()
        self._running = 0
        trials = earlier() if self._live or self._lines else []
        self._before = self._finished = count_finished(trials)
        self._failed = sum(t.state == "failed" for t in trials)
        self._stopped = sum(t.state == "stopped" for t in trials)
        self._best: Trial | None = None
        if not outcomes.several:
            with suppress(NoValueError):
                self._best = outcomes.best(trials)
        self._shown = 0

    def started(self, trial: Trial) -> None:
        """Reports that an evaluation begins."""
        self._running += 1
        self._draw()

    def ended(self, trial: Trial, counts: Mapping[str, int] = MappingProxyType({})) -> None:
        """Reports a finished trial. counts has the finished trials and the budget of a study that
        other processes may use."""
        self._running -= 1
        self._finished = counts.get("finished", self._finished + 1)
        self._budget = counts.get("budget", self._budget)
        self._failed += trial.state == "failed"
        self._stopped += trial.state == "stopped"
        improved = False
        if not self._outcomes.several:
            best = self._outcomes.best([t for t in (self._best, trial) if t is not None])
            improved, self._best = best is not self._best, best
        head = f"trial {trial.number:>{len(str(self._budget))}}/{self._budget}"
        if trial.state == "failed":
            self._print(f"{head}  failed: {trial.message}")
        elif trial.state == "stopped" and self._lines:
            self._print(f"{head}  stopped at {trial.message}")
        elif self._lines or improved:
            params = " ".join(f"{k}={_short(v)}" for k, v in trial.labelled().items())
            self._print(f"{head}  {self._numbers(trial)}{'  ' + params if improved else ''}")
        self._draw()

    def hide(self) -> None:
        """Removes the rewritten line of a terminal."""
        if self._live and self._display is None:
            self._clear()
            sys.stderr.flush()

    def _numbers(self, trial: Trial) -> str:
        """Returns the value of a trial, or its declared numbers by name."""
        declared = self._outcomes.declared
        if len(declared) == 1:
            return f"value {_short(trial.value)}"
        text = "  ".join(f"{name} {_short(trial.numbers[name])}" for name in declared)
        return text + ("  (infeasible)" if trial.feasible is False else "")

    def _line(self) -> str:
        parts = [f"{self._finished}/{self._budget} trials"]
        if self._failed:
            parts.append(f"{self._failed} failed")
        if self._stopped:
            parts.append(f"{self._stopped} stopped")
        if self._best is not None:
            parts.append(f"best {_short(self._best.value)} (trial {self._best.number})")
        if self._running:
            parts.append(f"{self._running} running")
        seconds = time.monotonic() - self._started
        done = self._finished - self._before
        if done > 1 and self._finished < self._budget:
            left = seconds / done * (self._budget - self._finished)
            parts.append(f"about {_duration(left)} left")
        return "   ".join(parts)

    def _print(self, line: str) -> None:
        if self._display is None and (self._live or self._lines):
            self._clear()
            print(line, file=sys.stderr)

    def _draw(self) -> None:
        if not self._live:
            return
        line = self._line()
        if self._display is not None:
            self._display.update({"text/plain": line}, raw=True)
            return
        self._clear()
        line = line[: shutil.get_terminal_size().columns - 1]  # a longer line would wrap
        sys.stderr.write(line)
        sys.stderr.flush()
        self._shown = len(line)

    def _clear(self) -> None:
        if self._shown:
            sys.stderr.write("\r" + " " * self._shown + "\r")
            self._shown = 0


def count_finished(trials: Iterable[Trial]) -> int:
    """Returns the number of finished trials that count against a budget."""
    return sum(t.source != "added" and t.state != "pending" for t in trials)


def _notebook() -> Any:
    """Returns the handle of an output in a notebook, or None elsewhere."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    kinds = {kind.__name__ for kind in type(shell).__mro__}  # Colab has a class of its own
    if "ZMQInteractiveShell" not in kinds:
        return None
    from IPython.display import display  # type: ignore[import-not-found,unused-ignore]

    return display({"text/plain": ""}, raw=True, display_id=True)


def _short(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.0f} s"
    if seconds < 3600:
        return f"{int(seconds) // 60}:{int(seconds) % 60:02d} min"
    return f"{int(seconds) // 3600}:{int(seconds) % 3600 // 60:02d} h"
