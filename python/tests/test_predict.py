"""Predictions of the surrogate model of a study at points."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from functionspace_bo import (
    Bool,
    Categorical,
    Fixed,
    Float,
    Int,
    NoValueError,
    Ordinal,
    RequestError,
    StoredStudy,
    Study,
)

SPACE: Any = {
    "größe, x": Float(0, 1),
    "opt": Categorical(["a", 3, True]),
    "m": Int(1, 9, when="opt == 'a'"),
    "amp": Bool(),
    "width": Ordinal([1, 2, 4]),
    "epochs": Fixed(7),
}
OPTIONS: Any = {
    "objectives": ["loss", {"name": "gain", "goal": "maximize"}],
    "require": ["cost <= 0.5"],
    "budget": 16,
}
POINTS: Any = [
    {"größe, x": 0.25, "opt": "a", "m": 3, "amp": True, "width": 1},
    {"größe, x": 0.75, "opt": 3, "amp": False, "width": 4, "epochs": 7},
    {"größe, x": 0.5, "opt": True, "amp": False, "width": 2},
]


def outcome(params: dict[str, Any]) -> dict[str, float]:
    x = params["größe, x"]
    return {"loss": 3 + x, "gain": 100 - 10 * x, "cost": x}


def test_predictions(tmp_path: Path) -> None:
    stored = Study.create(tmp_path / "bo.db", "predict", SPACE, **OPTIONS)
    studies: list[Study | StoredStudy] = [Study(SPACE, **OPTIONS), stored]
    answers = []
    for study in studies:
        with pytest.raises(NoValueError):
            study.predict(POINTS)
        study.run(outcome)
        answers.append(study.predict(tuple(POINTS)))
        assert study.predict([]) == []
        for wrong, text in (
            ([{"z": 1}], 'unknown parameter "z"'),
            ([{"größe, x": 2, "opt": 3, "amp": True, "width": 1}], "outside"),
            ([{"größe, x": 0.5}], "missing"),
            (POINTS[0], "a list of points"),
        ):
            with pytest.raises(RequestError, match=text):
                study.predict(wrong)
    for p, other in zip(answers[0], answers[1], strict=True):  # their fits start differently
        for name in p.mean:
            assert math.isclose(p.mean[name], other.mean[name], abs_tol=p.sd[name] / 10)
            assert math.isclose(p.sd[name], other.sd[name], rel_tol=0.1)
    for point, p in zip(POINTS, answers[0], strict=True):
        assert p.params == point
        assert p.mean.keys() == p.sd.keys() == {"loss", "gain", "cost"}
        for name, value in outcome(point).items():
            scale = 10 if name == "gain" else 1
            assert math.isclose(p.mean[name], value, abs_tol=0.1 * scale)
            low, high = p.interval[name]
            assert low <= p.mean[name] <= high
            assert math.isclose(high - low, 2 * 1.959964 * p.sd[name], rel_tol=1e-6)
            assert p.measured[name][0] <= low
            assert high <= p.measured[name][1]
    likely = [p.feasible or 0.0 for p in answers[0]]
    assert likely[0] > 0.95
    assert likely[1] < 0.05
    z = (0.5 - answers[0][2].mean["cost"]) / answers[0][2].sd["cost"]
    assert math.isclose(likely[2], 0.5 * math.erfc(-z / math.sqrt(2)), rel_tol=1e-6)


def test_predictions_of_one_objective() -> None:
    with Study({"x": Float(0, 1)}, budget=12, noise_sd=0.1) as study:
        study.run(lambda p: (p["x"] - 0.4) ** 2)
        best = study.recommend().model
        (p,) = study.predict([best.trial.params])
    assert math.isclose(p.mean["value"], best.mean, rel_tol=1e-3, abs_tol=1e-3)
    assert math.isclose(p.sd["value"], best.sd, rel_tol=0.05)
    assert p.feasible is None
    low, high = p.measured["value"]
    noise = ((high - low) / (2 * 1.959964)) ** 2 - p.sd["value"] ** 2
    assert math.isclose(noise, 0.01, rel_tol=1e-3)


def test_a_name_with_a_semicolon() -> None:
    """A table without commas may be separated by semicolons, so its names are quoted."""
    with Study({"a;b": Float(0, 1)}, budget=6) as study:
        study.run(lambda p: p["a;b"])
        (p,) = study.predict([{"a;b": 0.5}])
    assert p.params == {"a;b": 0.5}


def test_a_point_without_values() -> None:
    wrongs: list[list[dict[str, float]]] = [[{}], [{"x": 0.25}, {}]]
    with Study({"x": Float(0, 1)}, budget=4) as study:
        study.run(lambda p: p["x"])
        for wrong in wrongs:
            with pytest.raises(RequestError, match=rf"^point {len(wrong)} has no value$"):
                study.predict(wrong)
        frame: Any = pytest.importorskip("pandas").DataFrame(wrongs[1])
        with pytest.raises(RequestError, match=r"use to_dict\('records'\)"):
            study.predict(frame)


def test_a_text_is_no_number() -> None:
    with Study({"x": Float(0, 1), "k": Categorical(["3", "a"])}) as study:
        study.add({"x": 0.5, "k": "3"}, 1)
        assert study.predict([{"x": 0.5, "k": "3"}])[0].params["k"] == "3"
        with pytest.raises(RequestError, match=r"^parameter .k.: 3 is not '3'$"):
            study.predict([{"x": 0.5, "k": 3}])
        with pytest.raises(RequestError, match=r"^parameter .x.: '0.5' is not 0.5$"):
            study.predict([{"x": "0.5", "k": "3"}])


def test_recommendations_for_given_values(tmp_path: Path) -> None:
    space = {"temp": Float(0, 1), "humidity": Int(20, 90), "oven": ["a", "b"]}
    options: Any = {"goal": "maximize", "require": ["cost <= 2"], "noise_free": True}
    stored = Study.create(tmp_path / "bo.db", "given", space, **options)
    studies: list[Study | StoredStudy] = [Study(space, **options), stored]
    for study in studies:
        with pytest.raises(NoValueError):
            study.recommend(given={"humidity": 61})
        for temp, humidity, oven in (
            (0.2, 30, "a"),
            (0.5, 60, "b"),
            (0.9, 85, "a"),
            (0.6, 40, "a"),
        ):
            trial = study.ask(given={"temp": temp, "humidity": humidity, "oven": oven})
            study.tell(trial, {"value": 10 * temp, "cost": 2 * temp})
        best = study.recommend(given={"humidity": 61, "oven": "b"})
        assert best.params == {"temp": 0.9, "humidity": 61, "oven": "b"}
        assert isinstance(best.params["humidity"], int)
        assert best.trial.number == 3
        assert 5 < best.mean < 12
        assert best.feasible is not None
        assert study.recommend().model.trial.number == 3
        with pytest.raises(RequestError, match='"humidity": 161 is outside'):
            study.recommend(given={"humidity": 161})
        with pytest.raises(RequestError, match="given has no values, want values by name"):
            study.recommend(given={})
        with pytest.raises(RequestError, match="the point is 3, want values by name"):
            study.recommend(given=3)  # type: ignore[call-overload]
