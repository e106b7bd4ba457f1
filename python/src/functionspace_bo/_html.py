"""Reports of studies as HTML, for files and notebooks."""

from __future__ import annotations

import html
import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from ._outcomes import MAX_VALUE, Outcomes, usable
from ._trial import Trial

_SHOWN = 8  # parameters of the best trial in a summary


@dataclass(frozen=True, repr=False)
class HTMLReport:
    """A report of a study: one HTML page that loads nothing from elsewhere.

    A notebook shows it in a frame.
    """

    html: str
    """The page."""
    name: str = "study"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the page to a file. A file there is replaced."""
        Path(path).write_text(self.html, encoding="utf-8")

    def __repr__(self) -> str:
        return f"<HTMLReport of {self.name}, {len(self.html) / 1e6:.1f} MB>"

    def _repr_html_(self) -> str:
        page = html.escape(self.html, quote=True)
        title = html.escape(f"Report of {self.name}", quote=True)
        return (
            f'<iframe title="{title}" srcdoc="{page}" sandbox="allow-scripts" width="100%"'
            ' height="900" style="border:0"></iframe>'
        )


def summary(name: str, trials: Sequence[Trial], outcomes: Outcomes, best: Trial | None) -> str:
    """Returns a table for a notebook: the counts, and the best trial or the objectives.

    best is None if no trial is the best one.
    """
    counts = {s: sum(t.state == s for t in trials) for s in ("complete", "failed", "stopped")}
    states = ", ".join(f"{n} {s}" for s, n in counts.items() if n > 0)
    rows = [("trials", f"{len(trials)}" + (f": {states}" if states else ""))]
    if outcomes.several:
        goals = (f"{'maximize' if g.maximize else 'minimize'} {g.name}" for g in outcomes.goals)
        rows.append(("objectives", ", ".join(goals)))
    elif best is not None:
        rows.append(("best", f"{best.value:.6g} in trial {best.number}"))
        params = [f"{k} = {_short(v)}" for k, v in best.labelled().items()]
        more = [f"and {len(params) - _SHOWN} more"] if len(params) > _SHOWN else []
        rows.append(("at", ", ".join(params[:_SHOWN] + more)))
    cells = "".join(
        f'<tr><th style="text-align:left">{html.escape(k)}</th>'
        f'<td style="text-align:left">{html.escape(v)}</td></tr>'
        for k, v in rows
    )
    return f"<table><caption>{html.escape(name)}</caption>{cells}</table>"


def _short(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def report(definition: Mapping[str, Any], trials: Iterable[Trial]) -> HTMLReport:
    """Returns the report of a study that is not stored."""
    with copied(definition, trials) as (store, name):
        return stored(store, name)


@contextmanager
def copied(definition: Mapping[str, Any], trials: Iterable[Trial]) -> Iterator[tuple[str, str]]:
    """Stores a copy of a study, and gives the store and the name."""
    from ._store import _run

    name = definition.get("name") or "study"
    with tempfile.TemporaryDirectory() as folder:
        path, store = os.path.join(folder, "study.json"), os.path.join(folder, "bo.db")
        Path(path).write_text(json.dumps(_export(definition, trials)), encoding="utf-8")
        _run(["study", "import", path, "--study", name, "--store", store], hide=path + ": ")
        yield store, name


def stored(store: str, name: str, maps: Sequence[str] = ()) -> HTMLReport:
    """Returns the report of a study in a store."""
    from ._store import _run

    flags = [f"--map={m}" for m in maps]
    return HTMLReport(_run(["report", "--store", store, "-o", "-", *flags, "--", name]), name)


def _export(definition: Mapping[str, Any], trials: Iterable[Trial]) -> dict[str, Any]:
    """Returns the document that bo study export writes, without a history and fits."""
    now = datetime.now(timezone.utc).isoformat()
    rows, steps = [], []
    objectives = definition.get("objectives") or [{}]
    objective = objectives[0].get("name", "value")
    worst = -MAX_VALUE if objectives[0].get("goal") == "maximize" else MAX_VALUE
    for t in trials:
        row = {
            "trial": t.number,
            "params": t.labelled(),
            "source": t.source,
            "state": t.state,
            "numbers": t.numbers,
            "message": t.message,
            "seconds": t.seconds,
            "created": now,
        }
        if t.state == "failed":
            row["failure"] = "lost" if t.lost else "program"
        if t.prediction is not None:
            row["prediction"] = {k: v for k, v in vars(t.prediction).items() if v is not None}
        rows.append(row)
        steps += [
            {
                "trial": t.number,
                "attempt": 0,
                "step": s.step,
                "name": objective,
                "value": s.value if usable(s.value) else worst,
            }
            for s in t.steps
        ]
    return {
        "format": "bo-export",
        "version": 1,
        "definition": {**definition, "budget": max(definition.get("budget") or 50, len(rows))},
        "created": now,
        "warm": 0,
        "trials": rows,
        "fits": [],
        "steps": steps,
        "events": [],
    }
