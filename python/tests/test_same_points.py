"""minimize evaluates the points of loop.Minimize in Go."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from conftest import go_build

from functionspace_bo import Bool, Categorical, Fixed, Float, Int, Ordinal, Study

BOX = {"x": Float(-1, 1), "y": Float(0, 2)}
MIXED = {
    "rate": Float(1e-5, 0.1, log=True),
    "layers": Int(1, 8),
    "width": Ordinal([32, 64, 128]),
    "units": Int(1, 1000, log=True),
    "dropout": Float(0, 0.5, step=0.05),
    "opt": ["adam", "sgd", "lion"],
    "amp": Bool(),
    "epochs": Fixed(10),
}
SMALL = {"n": Int(1, 3), "o": Categorical(["a", "bb", "ccc"])}

CONDITIONAL = {
    "opt": ["adam", "sgd"],
    "momentum": Float(0, 0.99, when="opt == 'sgd'"),
    "beta": Float(0.8, 1, when="opt == 'adam'"),
    "layers": Int(1, 4),
}

CASES: dict[str, tuple[Any, dict[str, Any]]] = {
    "defaults": (BOX, {"budget": 14}),
    "noise-free": (BOX, {"budget": 14, "noise_free": True, "seed": 7}),
    "mixed": (MIXED, {"budget": 24, "seed": 2**63}),
    "mixed, noise-free": (MIXED, {"budget": 22, "noise_free": True, "acquisition": "ei"}),
    "batch": (BOX, {"budget": 18, "batch": 4, "seed": 1}),
    "batch of a mixed space": (MIXED, {"budget": 24, "batch": 3, "initial": 5}),
    "a finite space": (SMALL, {"budget": 9, "noise_free": True, "seed": 3}),
    "a finite space with noise": (SMALL, {"budget": 16, "initial": 4}),
    "conditions and constraints": (
        CONDITIONAL,
        {"budget": 20, "batch": 2, "constraints": ["layers * 2 <= 6"]},
    ),
    "maximize": (BOX, {"budget": 12, "goal": "maximize", "design": "lhs"}),
    "beliefs": (
        BOX,
        {"budget": 14, "kernel": "rbf+linear", "noise": 0.01, "mean": "zero", "warp": "none"},
    ),
    "another surrogate": (
        BOX,
        {
            "budget": 9,
            "surrogate": {"name": "fsp-laplace", "hidden": [8], "context": 50, "kernel": "rbf"},
            "acquisition": {"name": "lcb", "beta": 2},
            "maximizer": {"starts": 4, "raw": 64},
        },
    ),
    "an ensemble": (
        BOX,
        {"budget": 9, "surrogate": "rff", "maximizer": {"starts": 4}, "design": "halton"},
    ),
}


class Objective:
    """The objective of points/main.go."""

    def __init__(self, noisy: bool) -> None:
        self.noisy = noisy
        self.points: list[dict[str, Any]] = []

    def __call__(self, params: dict[str, Any]) -> float:
        self.points.append(params)
        total = 0.0
        for v in params.values():
            if isinstance(v, bool):
                total += v
            elif isinstance(v, str):
                total += len(v)
            else:
                total += (v - 0.3) * (v - 0.3)
        call = len(self.points)
        if call % 7 == 0:
            raise RuntimeError("every seventh call fails")
        return total + call * 37 % 11 / 64 if self.noisy else total


@pytest.fixture(scope="module")
def points(tmp_path_factory: pytest.TempPathFactory) -> str:
    return go_build("./python/tests/points", tmp_path_factory.mktemp("points"))


@pytest.mark.parametrize("name", CASES)
def test_same_points(name: str, points: str) -> None:
    space, options = CASES[name]
    with Study(space, **options) as study:
        f = Objective(noisy=not options.get("noise_free"))
        study.run(f)
        definition = json.dumps(study.definition)
    done = subprocess.run([points], input=definition, capture_output=True, text=True, check=True)
    want = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(want) == options["budget"]
    assert f.points == want


def test_resumed_study_has_the_same_points(points: str, tmp_path: Path) -> None:
    """A study that is saved and loaded between trials, whose process ends each time."""
    space, options = CASES["batch"]
    f = Objective(noisy=True)
    study = Study(space, **options)
    for budget in (3, 10, 11, 18):
        study.run(f, budget)
        study.save(tmp_path / "study.json")
        definition = json.dumps(study.definition)
        study = Study.load(tmp_path / "study.json")
    done = subprocess.run([points], input=definition, capture_output=True, text=True, check=True)
    assert len(study.trials) == 18
    # Rounds that a smaller budget cuts short make later points differ, not the first ones.
    assert f.points[:6] == [json.loads(line) for line in done.stdout.splitlines()][:6]
