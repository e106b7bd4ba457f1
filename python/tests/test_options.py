"""The options have the names of the study file."""

from __future__ import annotations

import dataclasses
import json
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

import functionspace_bo
from functionspace_bo import (
    Bool,
    Categorical,
    FailuresError,
    Fixed,
    Float,
    Int,
    Ordinal,
    StoredStudy,
    Study,
    StudyError,
    Trial,
    TrialError,
    minimize,
)

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import generate  # noqa: E402


def schema() -> dict[str, Any]:
    text: dict[str, Any] = json.loads(generate.SCHEMA.read_text())
    return text


def test_known_noise() -> None:
    with Study({"x": Float(0, 1)}, noise_sd=0.2) as study:
        assert study.definition["objectives"] == [{"name": "value", "noise_sd": 0.2}]
    with pytest.raises(StudyError, match="declared exact"):
        Study({"x": Float(0, 1)}, noise_sd=0.2, noise_free=True)


def test_standard_error() -> None:
    def predicted(se: float) -> tuple[float, float]:
        with Study({"x": Float(0, 1)}, initial=2, standard_error="se") as study:
            assert study.definition["objectives"] == [{"name": "value", "standard_error": "se"}]
            for x, value in ((0.1, 1.0), (0.4, 2.0), (0.6, 0.0), (0.9, 3.0)):
                study.add({"x": x}, {"value": value, "se": se if x == 0.6 else 0.01})
            prediction = study.predict([{"x": 0.6}])[0]
            return prediction.mean["value"], prediction.sd["value"]

    exact, poor = predicted(0.01), predicted(2.0)
    assert abs(exact[0]) < 0.1 < poor[0]
    assert exact[1] < 0.1 < poor[1]

    with Study({"x": Float(0, 1)}, standard_error="se") as study:
        trial = study.ask()
        with pytest.raises(TrialError, match="the standard error se is -1, want a number of at"):
            study.tell(trial, {"value": 1, "se": -1})
        study.tell(trial, {"value": 1})
    with pytest.raises(StudyError, match="declared exact"):
        Study({"x": Float(0, 1)}, standard_error="se", noise_free=True)


@pytest.mark.parametrize("require", [[], ["cost <= 9"]])
def test_suggestions_use_standard_errors(tmp_path: Path, require: list[str]) -> None:
    def suggested(study: Study | StoredStudy, se: float) -> Trial:
        for x, value in ((0.1, 1.0), (0.3, 2.0), (0.5, 0.0), (0.7, 3.0), (0.9, 2.5)):
            study.enqueue({"x": x})
            study.tell(study.ask(), {"value": value, "se": se, "cost": 1})
        return study.ask()

    options: dict[str, Any] = {"initial": 2, "standard_error": "se", "require": require, "seed": 3}
    trials = {}
    for se in (0.01, 1.0):
        with Study({"x": Float(0, 1)}, **options) as memory:
            trials[se] = suggested(memory, se)
        stored = Study.create(tmp_path / "bo.db", str(se), {"x": Float(0, 1)}, **options)
        assert suggested(stored, se).params == trials[se].params
    assert trials[1.0].params != trials[0.01].params
    assert trials[1.0].prediction != trials[0.01].prediction


@pytest.mark.parametrize(
    ("options", "hint"),
    [
        ({"direction": "maximize"}, 'direction is no option: use goal="maximize"'),
        ({"callbacks": [print]}, "callbacks is no option: use callback"),
        ({"catch": (ValueError,)}, "catch is no option: every exception makes a failed trial"),
        ({"pruner": object()}, 'pruner is no option: use stop="median"'),
        ({"sampler": object()}, "sampler is no option: use surrogate"),
        ({"directions": ["maximize"]}, "directions is no option: use goal, or objectives"),
        ({"show_progress_bar": True}, "show_progress_bar is no option: use progress of minimize"),
        ({"verbose": 1}, "verbose is no option: use progress of minimize"),
    ],
)
def test_options_of_other_packages(options: dict[str, Any], hint: str) -> None:
    with pytest.raises(StudyError, match=hint):
        minimize(lambda p: 0.0, {"x": Float(0, 1)}, budget=3, **options)


@pytest.mark.parametrize(
    ("one", "value"),
    [
        (Float(2, 2), "2"),
        (Int(3, 3), "3"),
        (["a"], "'a'"),
        (Categorical([True]), "True"),
        (Ordinal([0.5]), "0.5"),
    ],
)
def test_parameters_with_one_value(one: Any, value: str) -> None:
    hint = rf'parameter "p" has only the value {value}: use Fixed\({value}\) for a constant'
    with pytest.raises(StudyError, match=hint):
        Study({"x": Float(0, 1), "p": one})


def test_generated_files_are_up_to_date() -> None:
    assert generate.OPTIONS.read_text() == generate.options(schema()), (
        "run python python/generate.py"
    )


@pytest.mark.parametrize("kind", [Float, Int, Bool, Categorical, Ordinal, Fixed])
def test_parameters_have_the_keys_of_the_study_file(kind: Any) -> None:
    for s in schema()["properties"]["parameters"]["items"]["oneOf"]:
        if s["properties"]["type"]["const"] == kind.__name__.lower():
            keys = set(s["properties"]) - {"name", "type"}
            assert keys == {f.name for f in dataclasses.fields(kind)}
            return
    raise AssertionError(f"there is no type {kind.__name__}")


def test_docstrings_list_every_option() -> None:
    names = set(schema()["properties"]) - {"version", "parameters"}
    arguments = {"executor", "target", "time", "max_failures", "callback", "progress", "f", "space"}
    of_programs = {"builtin", "command", "end", "shell", "timeout"}
    for thing, wanted in ((minimize, names - of_programs | arguments), (Study, names | {"space"})):
        text = thing.__doc__ or ""
        for name in wanted | {"goal", "noise_free", "kernel"}:
            assert f" {name}: " in text, name
        assert "{options}" not in text


def test_version() -> None:
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert f'version = "{functionspace_bo.__version__}"' in project


def test_every_option_reaches_the_definition() -> None:
    values: dict[str, Any] = {
        "acquisition": {"name": "lognei", "samples": 32},
        "batch": 2,
        "budget": 9,
        "constraints": ["x <= 0.75"],
        "defaults": {"x": 0.5},
        "design": "lhs",
        "end": {"target": 0.1},
        "first": [{"x": 0.25}],
        "optimum": {"x": {"around": 0.3, "within": 0.1}},
        "prior_mean": "3 + x",
        "failures": "expected",
        "initial": 4,
        "maximizer": {"starts": 3},
        "name": "demo",
        "objectives": [{"name": "loss", "goal": "maximize", "noise_free": True}],
        "require": ["latency <= 20"],
        "seed": 2**64 - 1,
        "stop": {"rule": "median", "startup": 3},
        "surrogate": {"name": "gp", "kernel": "rbf"},
        "timeout": "90s",
        "shell": True,
        "command": "prog {x}",
        "warp": "none",
        "local": "none",
        "workers": 2,
    }
    names = set(schema()["properties"]) - {"version", "parameters", "builtin", "earlier"}
    assert names == set(values), "a new option needs a value in this test"
    with Study({"x": Float(0, 1)}, **values) as study:
        for key, value in values.items():
            assert study.definition[key] == value


def test_earlier_evaluations_are_trials() -> None:
    earlier: list[dict[str, Any]] = [
        {"params": {"x": 0.5}, "value": 2.0},
        {"params": {"x": 0.6}, "numbers": {"value": 1.0, "cost": 3.0}},
        {"params": {"x": 7.0}, "value": 0.0},
        {"params": {"x": 0.7}, "state": "failed"},
    ]
    result = minimize(
        lambda p: p["x"], {"x": Float(0, 1)}, budget=3, earlier=earlier, first=[{"x": 0.25}]
    )
    assert [t.state for t in result.trials[:3]] == ["complete", "complete", "failed"]
    assert result.trials[1].numbers["cost"] == 3.0
    assert result.trials[3].params == {"x": 0.25}
    assert sum(t.source != "added" for t in result.trials) == 3


@pytest.mark.parametrize("workers", [1, 3])
def test_beliefs_conditions_and_requirements_together(workers: int) -> None:
    def f(params: dict[str, Any]) -> dict[str, float]:
        assert ("momentum" in params) == (params["opt"] == "sgd")
        return {"value": (params["x"] - 0.3) ** 2, "latency": params["x"]}

    result = minimize(
        f,
        {
            "x": Float(0, 1),
            "opt": Categorical(["sgd", "adam"]),
            "momentum": Float(0, 0.99, when="opt == 'sgd'"),
        },
        budget=10,
        workers=workers,
        optimum={"x": {"around": 0.3, "within": 0.1}},
        first=[{"x": 0.25, "opt": "adam"}],
        prior_mean="x ** 2",
        require=["latency <= 0.5"],
    )
    assert result.trials[0].params == {"x": 0.25, "opt": "adam"}
    assert [t.state for t in result.trials] == ["complete"] * 10
    assert result.best.feasible
    assert any(t.source == "suggested" for t in result.trials)


def test_conditions_that_end_a_run() -> None:
    space = {"x": Float(0, 1)}

    def square(p: dict[str, Any]) -> dict[str, float]:
        return {"value": (p["x"] - 0.3) ** 2, "dollars": 2.0}

    result = minimize(square, space, budget=40, end={"target": 0.01})
    assert "target" in result.stopped
    assert result.best.value is not None
    assert result.best.value <= 0.01
    result = minimize(square, space, budget=40, end={"target": 0.01}, target=1.0)
    assert sum(t.state == "complete" for t in result.trials) == 1
    for workers in (1, 4):
        result = minimize(square, space, budget=40, workers=workers, end={"cost": "dollars <= 20"})
        assert result.stopped == "the cost is used up: dollars is 20 of 20 after 10 trials"
    result = minimize(square, space, budget=40, seed=1, noise_free=True, end={"regret": 0.05})
    assert "the regret is small enough" in result.stopped
    assert len(result.trials) < 40
    result = minimize(square, space, budget=9, end={"time": "1h"})
    assert len(result.trials) == 9
    with pytest.raises(FailuresError, match="no number named"):
        minimize(lambda p: p["x"], space, end={"cost": "dollars <= 20"})
    with pytest.raises(StudyError, match="cost"):
        minimize(square, space, end={"cost": "dollars >= 20"})


def test_a_standard_error_with_another_name_has_a_warning(tmp_path: Path) -> None:
    options: dict[str, Any] = {"standard_error": "value_se", "require": ["cost <= 9"]}
    stored = Study.create(tmp_path / "bo.db", "demo", {"x": Float(0, 1)}, **options)
    text = (
        'no number named "value_se", the standard error of value, was reported; '
        "numbers that are only recorded: se"
    )
    with Study({"x": Float(0, 1)}, **options) as memory:
        studies: list[Study | StoredStudy] = [memory, stored]
        for study in studies:
            trials = study.ask(3)
            with pytest.warns(UserWarning, match=f"^{text}$") as caught:
                study.tell(trials[0], {"value": 2, "cost": 1, "se": 0.1})
            assert caught[0].filename == __file__
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                study.tell(trials[1], {"value": 2, "cost": 1, "value_se": 0.1, "oven": 2})
                x = trials[2].params["x"]
                study.tell(trials[2], {"value": 2, "cost": 1, "x": x})
        with pytest.warns(UserWarning, match=text):
            memory.run(lambda p: {"value": p["x"], "cost": 1, "se": 0.1}, budget=4)
        with pytest.warns(UserWarning, match=text):
            stored.run(
                lambda p: {"value": p["x"], "cost": 1, "se": 0.1},
                callback=lambda study, trial: True,
            )
