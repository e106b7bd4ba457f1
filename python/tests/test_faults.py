"""Arguments of the wrong kind: the exceptions of this package, with messages of one line."""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from functionspace_bo import (
    Categorical,
    FailuresError,
    Fixed,
    Float,
    Ordinal,
    RequestError,
    Study,
    StudyError,
    Trial,
    TrialError,
    minimize,
)

X = {"x": Float(0, 1)}
CONDITION: Any = any


@pytest.mark.parametrize(
    ("space", "message"),
    [
        ({"x": {"a", "b"}}, 'parameter "x" is {'),
        ({"x": {"min": 0}}, "parameter \"x\" is {'min': 0}, want Float"),
        ({"x": Float}, 'parameter "x" is <class'),
        ({"x": [object()]}, 'parameter "x" has only the value <object object at'),
        ({"x": Float(float("nan"), 1)}, 'parameter "x": min is nan, want a finite number'),
        ({"x": Float(0, float("inf"))}, 'parameter "x": max is inf, want a finite number'),
        (
            {"x": Float(0, 1, when=CONDITION)},
            'parameter "x": when is <built-in function any>, want',
        ),
        (None, "the space is None, want parameters by name"),
        ("x", "the space is 'x', want parameters by name"),
    ],
)
def test_spaces(space: Any, message: str) -> None:
    with pytest.raises(StudyError) as caught:
        Study(space)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("kind", [Categorical, Ordinal])
@pytest.mark.parametrize("values", ["abc", 5, None])
def test_values_that_are_no_list(kind: Callable[[Any], Any], values: Any) -> None:
    with pytest.raises(StudyError, match="want a list"):
        kind(values)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"lengthscale": float("nan")}, "surrogate: lengthscale is nan"),
        ({"seed": object()}, "seed is <object"),
        ({"surrogate": object()}, "surrogate is <object"),
        ({"storage": "sqlite:///a.db"}, "storage is no option: Study.create"),
        ({"load_if_exists": True}, "Study.create has exist_ok=True"),
    ],
)
def test_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(StudyError, match=message):
        Study(X, **options)


@pytest.mark.parametrize("point", [{"x": object()}, {"x": float("nan")}, {"x": "a"}, [0.5], None])
def test_points(point: Any) -> None:
    with Study(X) as study:
        with pytest.raises(RequestError):
            study.enqueue(point)
        with pytest.raises(RequestError):
            study.add(point, 1)
        assert study.trials == []


def test_numbers_of_trials() -> None:
    with Study(X) as study:
        trial = study.ask()
        for number in ("1", 1.0, None):
            with pytest.raises(TrialError, match="want a whole number"):
                study.tell(number, 1)  # type: ignore[arg-type]
        with pytest.raises(TrialError, match="want a whole number"):
            study.ask(1.5)  # type: ignore[call-overload]
        told = study.fail(trial, ValueError("hot"))  # type: ignore[arg-type]
        assert told.message == "hot"


def test_objectives_that_are_no_functions() -> None:
    with pytest.raises(TypeError, match="f is 3, want a function"):
        minimize(3, X)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"callback is \[.*, want a function of study and trial"):
        minimize(max, X, callback=[print])  # type: ignore[arg-type]


def constant(value: Any, _: dict[str, Any]) -> Any:
    return value


def test_arrays() -> None:
    np = pytest.importorskip("numpy")
    for value in (np.zeros((3, 3)), np.array([1.0])):
        with pytest.raises(FailuresError, match=r"the value is array\(.*\), want a number \(for a"):
            minimize(partial(constant, value), X, budget=2)
    with Study({"x": Float(0, 1), "n": np.array([1, 2])}) as study:
        assert type(study.ask().params["n"]) is int


def test_numpy_values_are_plain(tmp_path: Path) -> None:
    np = pytest.importorskip("numpy")
    space = {"n": Categorical([np.int64(1), np.int64(2)]), "k": Fixed(np.int64(7)), **X}
    with Study(space, initial=2) as study:
        study.enqueue({"n": np.int64(2), "x": np.float32(0.5)})
        for t in study.ask(3):
            study.tell(t, 1)
        study.save(tmp_path / "study.json")
        json.dumps(study.records())
        with Study.load(tmp_path / "study.json") as loaded:
            assert loaded.ask() == study.ask()


def test_changed_params_do_not_change_the_study() -> None:
    with Study(X, initial=2) as study, Study(X, initial=2) as other:
        for t in study.ask(2):
            t.params.pop("x")
            study.tell(t, t.number).params.clear()
        study.best.params.clear()
        study.trials[1].params["x"] = 3
        for t in other.ask(2):
            other.tell(t, t.number)
        assert study.ask() == other.ask()
        assert study.trials == other.trials


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"study": {}}, "damaged"),
        ({"study": None}, "damaged"),
        ({"trials": [{"number": 1}]}, "damaged"),
        ({"trials": 3}, "damaged"),
        ({"queue": [5]}, "damaged"),
        ({"version": 2}, "version is 2, want 1"),
        ({"study": {"parameters": [], "future": 1}}, 'unknown key "future"'),
    ],
)
def test_damaged_files(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    path = tmp_path / "stüdy.json"
    with Study(X) as study:
        study.save(path)
    path.write_text(json.dumps({**json.loads(path.read_text("utf-8")), **change}), "utf-8")
    with pytest.raises(StudyError) as caught:
        Study.load(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert message in str(caught.value)


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX permissions")
def test_permissions_and_links_of_saved_files(tmp_path: Path) -> None:
    path, link = tmp_path / "study.json", tmp_path / "link.json"
    link.symlink_to(path)
    before = os.umask(0o027)
    try:
        with Study(X) as study:
            study.save(link)
            assert stat.S_IMODE(path.stat().st_mode) == 0o640
            path.chmod(0o664)
            study.save(path)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o664
    assert link.is_symlink()
    assert len(list(tmp_path.iterdir())) == 2


class UnpicklableError(Exception):
    def __init__(self, first: str, second: str) -> None:
        super().__init__(f"{first} {second}")


def breaks(params: dict[str, Any]) -> float:
    if params["x"] > 0.5:
        raise UnpicklableError("a", "b")
    return float(params["x"])


def test_exceptions_that_end_a_run_have_the_result() -> None:
    def callback(study: Study, trial: Trial) -> None:
        if trial.number == 3:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError) as caught:
        minimize(lambda p: p["x"], X, budget=9, callback=callback)
    assert len(caught.value.result.trials) >= 3  # type: ignore[attr-defined]

    def leaves(params: dict[str, Any]) -> float:
        calls.append(params)
        if len(calls) == 3:
            raise SystemExit(3)
        return float(params["x"])

    for workers in (1, 3):
        calls: list[Any] = []
        with pytest.raises(SystemExit) as left:
            minimize(leaves, X, budget=9, workers=workers)
        assert left.value.result.best.value is not None  # type: ignore[attr-defined]

    with ProcessPoolExecutor(1) as pool, pytest.raises(BrokenProcessPool) as broken:
        minimize(breaks, X, budget=9, executor=pool)
    assert len(broken.value.result.trials) >= 2  # type: ignore[attr-defined]
    if sys.version_info >= (3, 11):
        assert "define functions of a notebook in a module" in broken.value.__notes__[0]
