"""Definitions of studies from Python arguments."""

from __future__ import annotations

import json
import os
import tempfile
import warnings
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from ._binary import read_answer, run_binary
from ._labels import plain, shown
from ._options import HELP, OBJECTIVE, SETTINGS
from ._space import Categorical, Ordinal, Parameters, Space, parse_space, require_json
from .errors import StudyError

_STORES = 'Study.create("bo.db", "name", space) stores a study'
_OF_OTHERS = {
    "storage": _STORES,
    "store": _STORES,
    "study_name": _STORES,
    "load_if_exists": "Study.create has exist_ok=True",
    "direction": 'use goal="maximize" or "minimize"',
    "directions": "use goal, or objectives",
    "callbacks": "use callback, a function of the study and the trial",
    "catch": 'every exception makes a failed trial; failures="expected" if the first ones may fail',
    "pruner": 'use stop="median" or "asha"',
    "show_progress_bar": "use progress of minimize and run",
    "verbose": "use progress of minimize and run",
    "sampler": "use surrogate and acquisition",
}
"""The remedies for options of other packages."""

_POINTS = {"defaults", "earlier", "first"}
"""The options that have values of parameters."""


def define(space: Space, options: Mapping[str, Any]) -> tuple[dict[str, Any], Parameters]:
    """Returns a definition in the form of the study file, and its parameters by name.

    Unknown options stay in the definition: `bo` reports them, with a suggestion from the keys of
    study files.
    """
    parameters, by_name = parse_space(space)
    definition: dict[str, Any] = {"version": 1, "parameters": parameters}
    objective: dict[str, Any] = {}
    settings: dict[str, Any] = {}
    for key, given in options.items():
        if given is None:
            continue
        _check_name(key)
        value = _labelled(given, by_name, key) if key in _POINTS else given
        if key in OBJECTIVE:
            objective[key] = value
        elif key in SETTINGS:
            settings[key] = _native(value)
        else:
            definition[key] = _native(value)
    if objective:
        if "objectives" in definition:
            stated = definition["objectives"]
            first = stated[0] if isinstance(stated, list) and stated else "value"
            entry = {**(first if isinstance(first, Mapping) else {"name": first}), **objective}
            raise StudyError(
                f"{' and '.join(sorted(objective))}: state them in objectives, as in "
                f"objectives=[{shown(entry)}]"
            )
        definition["objectives"] = [{"name": "value", **objective}]
    listed = definition.get("objectives")
    if isinstance(listed, list):
        definition["objectives"] = [{"name": o} if isinstance(o, str) else o for o in listed]
    if settings:
        definition["surrogate"] = _component(definition.get("surrogate"), settings)
    earlier = definition.get("earlier")
    if isinstance(earlier, (str, os.PathLike)):
        definition["earlier"] = _table(earlier, definition)
    elif hasattr(earlier, "to_csv") and hasattr(earlier, "columns"):
        definition["earlier"] = _frame(earlier, definition, by_name)
    _require_json(definition)
    return definition, by_name


def _check_name(key: str) -> None:
    """Raises StudyError for an option of another package, and one with a likely correction."""
    if key in _OF_OTHERS:
        raise StudyError(f"{key} is no option: {_OF_OTHERS[key]}")
    if key not in HELP and (near := get_close_matches(key, OBJECTIVE | SETTINGS, 1, 0.8)):
        raise StudyError(f'invalid study: unknown key "{key}": did you mean {near[0]}?')


def _require_json(definition: Mapping[str, Any]) -> None:
    """Raises StudyError if a definition has no form in JSON."""
    for p in definition["parameters"]:
        require_json(p, f'parameter "{p.get("name")}"', StudyError)
    for key, value in definition.items():
        if key != "parameters":
            require_json(value, key, StudyError)


def _table(
    path: str | os.PathLike[str], definition: Mapping[str, Any], name: str = "", depth: int = 5
) -> list[Any]:
    """Returns the evaluations of a CSV table, as `bo` reads it beside a study file.

    Messages have name in place of the path. Warnings are for the caller at a depth of the stack.
    """
    with tempfile.TemporaryDirectory() as folder:
        study = os.path.join(folder, "study.json")
        with open(study, "w", encoding="utf-8") as file:
            json.dump({**definition, "earlier": os.path.abspath(path)}, file)
        try:
            checked, notes = _read(study, "")
        except StudyError as err:
            raise StudyError(str(err).replace(str(path), name or str(path))) from None
        for note in notes:
            warnings.warn(note.replace(str(path), name or str(path)), stacklevel=depth)
    listed: list[Any] = checked.get("earlier", [])
    return listed


def _labelled(given: Any, parameters: Parameters, place: str) -> Any:
    """Returns points with labels in place of objects. `bo` reports entries that are no points."""
    if isinstance(given, (list, tuple)):
        entry = "evaluation" if place == "earlier" else "point"
        return [_labelled(g, parameters, f"{place}: {entry} {i}") for i, g in enumerate(given, 1)]
    if not isinstance(given, Mapping):
        return given
    if isinstance(point := given.get("params"), Mapping) and "params" not in parameters:
        return {**given, "params": parameters.labelled(point, f"{place}: ", StudyError)}
    return parameters.labelled(given, f"{place}: ", StudyError)


def _frame(frame: Any, definition: Mapping[str, Any], parameters: Parameters) -> list[Any]:
    """Returns the evaluations of a pandas data frame with the columns of a CSV table.

    NaN stands for None, as in columns of numbers. An empty cell of a parameter with a condition
    stays empty.
    """
    for name, p in parameters.items():
        if name in frame.columns and isinstance(p, (Categorical, Ordinal)) and p.when is None:
            cells = frame[name].astype(object)
            frame = frame.assign(**{name: [p.encode(v) for v in cells.where(cells.notna(), None)]})
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "earlier.csv")
        frame.to_csv(path, index=False)
        return _table(path, definition, "data frame", depth=6)


def read_file(path: str | os.PathLike[str], name: str) -> dict[str, Any]:
    """Returns the definition in a study file. The message of a StudyError begins with name."""
    definition, notes = _read(path, name)
    for note in notes:
        warnings.warn(note, stacklevel=3)
    return definition


def normalized(definition: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a definition in the form of `bo`, in which equal definitions are equal."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "study.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(definition, file)
        return read_file(path, "")


def _read(path: str | os.PathLike[str], name: str) -> tuple[dict[str, Any], list[str]]:
    """Returns the definition in a study file, and what is left out of its table."""
    done = run_binary(["validate", "--json", os.fspath(path)])
    if done.stderr and not done.stdout:
        raise StudyError(done.stderr.strip().removeprefix("bo: "))
    answer = read_answer(done.stdout)
    if not answer["valid"]:
        raise StudyError(name + "; ".join(f["message"] for f in answer["faults"]))
    return answer["definition"], answer.get("notes", [])


def _component(given: Any, settings: dict[str, Any]) -> Any:
    """Returns the surrogate model with settings."""
    if given is None:
        return settings
    if isinstance(given, str):
        return {"name": given, **settings}
    if not isinstance(given, Mapping):
        return given  # bo reports it
    twice = sorted(set(given) & set(settings))
    if twice:
        raise StudyError(f"{twice[0]} is given twice: as an option and in surrogate")
    return {**given, **settings}


def is_noise_free(definition: Mapping[str, Any]) -> bool:
    """Reports whether equal points have equal values."""
    listed = definition.get("objectives") or [{}]
    return bool(listed[0].get("noise_free"))


def _native(value: Any) -> Any:
    """Returns a value without tuples and NumPy types."""
    if isinstance(value, Mapping):
        return {str(k): _native(v) for k, v in value.items()}
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, (list, tuple)):
        return [_native(v) for v in value]
    return plain(value)
