"""Predictions of the surrogate model of a study at points."""

from __future__ import annotations

import csv
import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ._binary import read_answer
from ._space import Parameters, Params
from ._trial import PointPrediction
from .errors import RequestError


def points_of(points: Iterable[Mapping[str, Any]], parameters: Parameters) -> list[Params]:
    """Returns points in the form of requests.

    It raises RequestError for a name that no parameter has.
    """
    if isinstance(points, Mapping):
        raise RequestError("predict takes a list of points, not one point")
    if hasattr(points, "columns"):
        raise RequestError("predict takes a list of points: use to_dict('records') of a data frame")
    out = [parameters.request(p) for p in points]
    for i, p in enumerate(out):
        if not any(_cell(v).strip() for v in p.values()):  # a row of empty cells is no row
            raise RequestError(f"point {i + 1} has no value")
    for name in (name for p in out for name in p):
        if name not in parameters:
            raise RequestError(f'unknown parameter "{name}"')
    return out


def predictions(
    store: str, name: str, points: Sequence[Params], parameters: Parameters
) -> list[PointPrediction]:
    """Returns the predictions of a study in a store."""
    from ._store import _run

    if not points:
        return []
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "points.csv")
        with open(path, "w", encoding="utf-8", newline="") as file:
            names = list(dict.fromkeys(k for p in points for k in p))
            table = csv.DictWriter(file, names, quoting=csv.QUOTE_ALL)
            table.writeheader()
            table.writerows({k: _cell(v) for k, v in p.items()} for p in points)
        flags = ["--store", store, "--json", "--at", path]
        answer = read_answer(_run(["study", "predict", *flags, "--", name], hide=path + ": "))
    for p, e in zip(points, answer, strict=True):
        for k, v in p.items():  # a cell has no quotes: "3" and 3 are one text
            if isinstance(v, str) != isinstance(e["params"].get(k, v), str):
                raise RequestError(f'parameter "{k}": {v!r} is not {e["params"][k]!r}')
    return [
        PointPrediction(
            parameters.decode(p),
            {k: band["mean"] for k, band in e["predictions"].items()},
            {k: band["sd"] for k, band in e["predictions"].items()},
            {k: _interval(band) for k, band in e["predictions"].items()},
            {k: _interval(band) for k, band in e["measured"].items()},
            e.get("feasible"),
        )
        for p, e in zip(points, answer, strict=True)
    ]


def _cell(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _interval(band: Mapping[str, Any]) -> tuple[float, float]:
    return band["p95"]["low"], band["p95"]["high"]
