from __future__ import annotations

import math
import shutil
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

from functionspace_bo import (
    CommandError,
    ExhaustedError,
    ExistsError,
    Float,
    Int,
    NoValueError,
    ProcessError,
    RequestError,
    Step,
    Study,
    StudyError,
    TrialError,
)
from functionspace_bo._binary import find_binary


def test_a_stored_study(tmp_path: Path) -> None:
    store = tmp_path / "bo.db"
    space = {"x": Float(0, 1), "n": Int(1, 3)}
    study = Study.create(store, "demo", space, budget=9, goal="maximize", kernel="rbf")
    assert study.definition["surrogate"] == {"kernel": "rbf"}
    assert study.goal == "maximize"
    first = study.ask()
    assert set(first.params) == {"x", "n"}
    assert isinstance(first.params["n"], int)
    second, third = study.ask(2, lease="24h")
    assert study.tell(first, 2.5).value == 2.5
    study.tell(second, {"value": -3, "seconds": 4})
    assert study.fail(third, "-- it broke").state == "failed"
    queued = study.enqueue({"x": 0.5, "n": 2})
    other = Study.open(store, "demo")
    assert other.ask().params == queued.params
    assert other.enqueue({"n": 3}).params["n"] == other.ask().params["n"] == 3
    assert other.best.number == 1
    trials = other.trials
    assert [t.state for t in trials] == ["complete", "complete", "failed", "pending", "pending"]
    assert trials[1].numbers == {"value": -3.0, "seconds": 4.0}
    assert trials[2].message == "-- it broke"
    assert other.records()[0]["value"] == 2.5


def test_messages_name_arguments_of_python(tmp_path: Path) -> None:
    missing = tmp_path / "missing.db"
    with pytest.raises(CommandError) as caught:
        Study.open(missing, "demo")
    text = f"no studies yet: {missing} does not exist (Study.create makes a store)"
    assert str(caught.value) == text
    study = Study.create(tmp_path / "bo.db", "demo", {"x": Float(0, 1)})
    study.tell(study.ask(), 1)
    with pytest.raises(TrialError, match=r"; correct=True replaces a result$"):
        study.tell(1, 2)
    waiting = study.ask()
    with pytest.raises(TrialError, match=r"at other values, state them by at$"):
        study.tell(waiting, {"value": 1, "x": 3})
    with pytest.raises(RequestError, match=r'^lease is "soon", want a positive duration'):
        study.ask(lease="soon")
    with pytest.raises(CommandError, match=r"^maps: the number of parameters of maps is 1, want"):
        study.html_report(["x"])


def test_corrections(tmp_path: Path) -> None:
    study = Study.create(tmp_path / "bo.db", "demo", {"x": Float(0, 1)}, require=["cost <= 2"])
    first, second = study.ask(2)
    with pytest.raises(TrialError, match="trial 1 has no result to correct"):
        study.tell(first, {"value": 1, "cost": 3}, correct=True)
    study.tell(first, {"value": 1, "cost": 3})
    with pytest.raises(TrialError, match="correct=True replaces a result"):
        study.tell(first, {"value": 1, "cost": 2})
    assert study.tell(first, {"cost": 1}, correct=True).numbers == {"value": 1, "cost": 1}
    assert study.tell(first, 2, correct=True).numbers == {"value": 2, "cost": 1}
    assert study.best.value == 2
    study.fail(second, "power cut", lost=True)
    study.tell(second, {"value": 0, "cost": 1})
    assert study.fail(second, "wrong sample", correct=True).state == "failed"
    third = study.tell(study.ask(), {"value": 3, "cost": 1}, at={"x": 0.25})
    assert (third.params, third.value) == ({"x": 0.25}, 3)
    with pytest.raises(TrialError, match=r"has a result at"):
        study.tell(third, {"value": 3, "cost": 1}, at={"x": 0.5})
    with pytest.raises(TrialError, match='"x": 2 is outside'):
        study.tell(third, 3, at={"x": 2}, correct=True)
    burnt = study.fail(study.ask(), "burnt", at={"x": 0.75})
    assert burnt.params == {"x": 0.75}
    trials = Study.open(tmp_path / "bo.db", "demo").trials
    assert [t.message for t in trials] == ["", "wrong sample", "", "burnt"]


def test_a_study_that_exists_warns_of_other_options(tmp_path: Path) -> None:
    space = {"x": Float(1, 2, log=True), "n": Int(1, 9, step=2), "o": ["a", True], "k": 3}
    options: Any = {"goal": "maximize", "budget": 9, "kernel": "rbf", "require": ["cost <= 1"]}
    store = tmp_path / "bo.db"

    def create(**changed: Any) -> None:
        Study.create(store, "a", space, exist_ok=True, **{**options, **changed})

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        create()
        create()
        Study.create(store, "a", space, exist_ok=True)
        create(earlier=[{"params": {"x": 1.5, "n": 1, "o": "a"}, "state": "failed"}])
    for changed, keys in (
        ({"goal": "minimize"}, "other objectives than"),
        ({"budget": 8, "seed": 4}, "other budget and other seed than"),
        ({"kernel": "linear"}, "other surrogate than"),
    ):
        with pytest.warns(UserWarning, match=keys) as caught:
            create(**changed)
        assert caught[0].filename == __file__


def test_faults(tmp_path: Path) -> None:
    store = tmp_path / "bo.db"
    with pytest.raises(CommandError, match="no studies yet"):
        Study.open(store, "demo")
    study = Study.create(store, "demo", {"x": Float(0, 1)})
    with pytest.raises(ExistsError, match="the study exists: use"):
        Study.create(store, "demo", {"x": Float(0, 1)})
    with pytest.warns(UserWarning, match="demo exists with other parameters than the arguments"):
        opened = Study.create(store, "demo", {"y": Float(0, 1)}, exist_ok=True)
    assert opened.definition == study.definition
    with pytest.raises(CommandError, match='unknown study "dem": did you mean demo'):
        Study.open(store, "dem")
    with pytest.raises(TrialError, match="no such trial"):
        study.tell(7, 1.0)
    with pytest.raises(TrialError):
        study.tell(1, float("nan"))
    with pytest.raises(NoValueError, match="no trial is complete"):
        _ = study.best
    with pytest.raises(TrialError, match="want at least 1"):
        study.ask(0)
    with pytest.raises(RequestError, match='unknown parameter "y"'):
        study.enqueue({"y": 1.0})
    trial = study.ask()
    study.tell(trial, 1.0)
    study.tell(trial, 1.0)
    with pytest.raises(TrialError, match="conflicting result"):
        study.tell(trial, 2.0)
    with pytest.raises(TrialError, match="conflicting result"):
        study.fail(trial)


def test_exhausted(tmp_path: Path) -> None:
    study = Study.create(tmp_path / "bo.db", "finite", {"x": Int(1, 2)}, noise_free=True)
    study.ask(2)
    with pytest.raises(ExhaustedError, match="every point of the space"):
        study.ask()
    study = Study.create(tmp_path / "bo.db", "short", {"x": Float(0, 1)}, budget=1)
    study.ask()
    with pytest.raises(ExhaustedError, match="the budget is used up"):
        study.ask()
    with pytest.raises(ExhaustedError, match="the budget is used up"):
        study.enqueue({"x": 0.5})


def test_deleted_study(tmp_path: Path) -> None:
    store = tmp_path / "bo.db"
    study = Study.create(store, "demo", {"x": Float(0, 1)})
    command = [find_binary(), "study", "delete", "demo", "--yes", "--store", str(store)]
    subprocess.run(command, check=True)
    with pytest.raises(CommandError, match="unknown study"):
        study.tell(1, 0.5)
    with pytest.raises(CommandError, match="unknown study"):
        study.ask()


def test_faults_of_create(tmp_path: Path) -> None:
    store = tmp_path / "bo.db"
    names: list[Any] = ["a b", "", "--help", 3, None]
    for name in names:
        with pytest.raises(StudyError, match=r"^invalid study: name "):
            Study.create(store, name, {"x": Float(0, 1)})
    assert not store.exists()
    with pytest.raises((CommandError, StudyError), match="min 1 is above max 0"):
        Study.create(store, "other", {"x": Float(1, 0)})


@pytest.mark.filterwarnings("ignore:.*is no finite number")
def test_arguments_of_a_stored_study(tmp_path: Path) -> None:
    study = Study.create(tmp_path / "bo.db", "demo", {"x": Float(0, 1)}, require=["gap <= 1"])
    a, b, c = study.ask(3)
    assert a.source == study.trials[0].source == "design"
    assert study.fail(a, ValueError("boom")).message == "boom"  # type: ignore[arg-type]
    assert len(study.fail(b, "x" * 200_000).message) <= 10_000
    assert study.fail(study.ask(), "a\0b\ud800").message == "a?b?"
    with pytest.raises(RequestError, match="an argument is no text"):
        Study.open(tmp_path / "bo.db", "a\0b")
    told = study.tell(c, {"value": 3, "gap": 0, "note": math.nan})
    assert told.numbers == {"value": 3, "gap": 0}
    assert isinstance(study.best.value, float)
    with pytest.raises(TrialError, match="gap is not a usable number"):
        study.tell(study.ask(), {"value": 3, "gap": math.nan})
    with pytest.raises(RequestError, match="the lease is 3600, want a text"):
        study.ask(1, lease=3600)  # type: ignore[call-overload]
    with pytest.raises(RequestError, match="values by name"):
        study.enqueue([1])  # type: ignore[arg-type]
    with pytest.raises(RequestError, match="want a finite number"):
        study.enqueue({"x": math.nan})


def test_steps_of_stored_trials(tmp_path: Path) -> None:
    study = Study.create(tmp_path / "bo.db", "demo", {"x": Float(0, 1)})
    trial = study.ask()
    trial.report(2, 0.5)
    trial.report(1, math.nan)
    study.tell(trial, 0.25)
    usable, unusable = study.trials[0].steps
    assert usable == Step(2, 0.5)
    assert unusable.step == 1
    assert math.isnan(unusable.value)
    assert study.records()[0]["steps"][0] == {"step": 2, "value": 0.5}


@pytest.mark.skipif(sys.platform == "win32", reason="needs programs of POSIX")
def test_faults_of_the_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "study.yaml"
    file.write_text("parameters: [{name: x, type: float, min: 0, max: 1}]")
    killed = tmp_path / "killed"
    killed.write_text("#!/bin/sh\nkill -KILL $$\n")
    killed.chmod(0o755)
    for program, message in (
        (shutil.which("true"), "is no JSON: is it bo"),
        (str(killed), "ended unexpectedly .killed by SIGKILL"),
        (str(tmp_path / "none"), "bo cannot be started"),
    ):
        monkeypatch.setenv("BO_BINARY", program or "")
        with pytest.raises(ProcessError, match=message):
            Study.open(tmp_path / "bo.db", "demo")
        with pytest.raises(ProcessError, match=message):
            Study.from_file(file)


def test_a_relative_store_in_another_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    study = Study.create("bo.db", "demo", {"x": Float(0, 1)})
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    assert study.ask().number == 1
    for address in ("sqlite:///bo.db", "ftp://localhost:7040", "mysql://host/db"):
        with pytest.raises(RequestError, match="want the path of the file"):
            Study.open(address, "demo")
    with pytest.raises(CommandError, match="postgres://"):
        Study.open("postgres://127.0.0.1:1/none", "demo")


def test_given_values(tmp_path: Path) -> None:
    space = {"x": Float(0, 1), "batch": ["A", "B"]}
    study = Study.create(tmp_path / "bo.db", "given", space, initial=3)
    study.enqueue({"x": 0.25, "batch": "A"})
    for trial in study.ask(4, given={"batch": "B"}):
        assert trial.params["batch"] == "B"
        study.tell(trial, trial.params["x"])
    suggested = study.ask(given={"x": 0.125, "batch": "A"})
    assert suggested.params == {"x": 0.125, "batch": "A"}
    assert study.ask(given={"batch": "A"}).number == 1
    with pytest.raises(RequestError, match='parameter "x": 7 is outside'):
        study.ask(given={"x": 7})
