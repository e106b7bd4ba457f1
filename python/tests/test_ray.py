from __future__ import annotations

import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ray.tune")

from ray import tune
from ray.tune.search import ConcurrencyLimiter, Searcher

from functionspace_bo import StudyError
from functionspace_bo.ray import FunctionSpaceSearch

CHOICES = ["a", None, [1, 2]]
SPACE = {
    "x": tune.uniform(-5, 5),
    "rate": tune.loguniform(1e-5, 1),
    "net": {"layers": tune.randint(1, 9), "width": tune.qrandint(16, 64, 16)},
    "drop": tune.quniform(0, 0.5, 0.1),
    "kind": tune.choice(CHOICES),
    "constant": 7,
}


def loss(config: Any) -> float:
    return float(
        (config["x"] - 1) ** 2
        + math.log10(config["rate"] / 1e-2) ** 2
        + abs(config["net"]["layers"] - 3)
        + config["net"]["width"] / 64
        + config["drop"]
        + (config["kind"] is not None)
    )


def searcher(**options: Any) -> FunctionSpaceSearch:
    return FunctionSpaceSearch(SPACE, metric="loss", mode="min", seed=1, **options)


def run(search: FunctionSpaceSearch, first: int, last: int) -> list[Any]:
    configs = []
    for i in range(first, last):
        config = search.suggest(f"t{i}")
        assert isinstance(config, dict)
        configs.append(config)
        search.on_trial_complete(f"t{i}", {"loss": loss(config)})
    return configs


def states(search: FunctionSpaceSearch) -> list[str]:
    assert search._study is not None
    return [t.state for t in search._study.trials]


def test_suggestions() -> None:
    configs = run(searcher(), 0, 40)
    for c in configs:
        assert c["constant"] == 7
        assert isinstance(c["net"]["layers"], int)
        assert 1 <= c["net"]["layers"] <= 8
        assert c["net"]["width"] in (16, 32, 48, 64)
        assert c["drop"] in (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
        assert c["kind"] in CHOICES
    assert min(map(loss, configs)) < 1
    assert configs[:5] == run(searcher(), 0, 5)


def test_save_and_restore(tmp_path: Path) -> None:
    one = searcher()
    run(one, 0, 20)
    running = one.suggest("running")
    assert isinstance(running, dict)
    one.save(str(tmp_path / "state.pkl"))
    other = FunctionSpaceSearch()
    other.restore(str(tmp_path / "state.pkl"))
    for s in (one, other):
        s.on_trial_complete("running", {"loss": loss(running)})
    assert run(one, 21, 23) == run(other, 21, 23)


def test_failures() -> None:
    search = searcher()
    for i, (result, error) in enumerate(
        [(None, True), (None, False), ({"loss": math.nan}, False), ({"other": 1}, False)]
    ):
        search.suggest(f"t{i}")
        search.on_trial_complete(f"t{i}", result, error=error)
    search.on_trial_complete("unknown", {"loss": 1.0})
    assert states(search) == ["failed"] * 4


def test_mode_max_and_properties_of_the_tuner() -> None:
    search = FunctionSpaceSearch()
    with pytest.raises(RuntimeError, match="search space"):
        search.suggest("t")
    assert search.set_search_properties(None, None, SPACE)
    with pytest.raises(RuntimeError, match="metric"):
        search.suggest("t")
    assert search.set_search_properties("score", "max", {})
    assert search._study is not None
    assert search._study.goal == "maximize"
    assert not search.set_search_properties("score", "max", SPACE)
    assert isinstance(search.suggest("t"), dict)


def test_points_to_evaluate_and_evaluated_points() -> None:
    point = {
        "x": 0.5,
        "rate": 0.1,
        "net": {"layers": 2, "width": 32},
        "drop": 0.3,
        "kind": [1, 2],
    }
    search = searcher(points_to_evaluate=[point])
    assert search.suggest("t0") == {**point, "constant": 7}
    search.add_evaluated_point({**point, "x": 1.5}, 3.0)
    assert states(search) == ["pending", "complete"]


def test_unsupported_domains() -> None:
    for space in ({"x": tune.randn(0, 1)}, {"x": tune.grid_search([1, 2])}):
        with pytest.raises(StudyError, match="not supported"):
            FunctionSpaceSearch(space, metric="loss", mode="min")


def test_choice_of_one_value() -> None:
    with pytest.raises(StudyError, match="x: choice has one value; give the value itself"):
        FunctionSpaceSearch({"x": tune.choice(["a"])}, metric="loss", mode="min")


def test_finite_space() -> None:
    search = FunctionSpaceSearch(
        {"x": tune.choice([1, 2])}, metric="loss", mode="min", noise_free=True
    )
    for i in range(2):
        search.suggest(f"t{i}")
        search.on_trial_complete(f"t{i}", {"loss": 1.0 * i})
    assert search.suggest("t2") == Searcher.FINISHED


def test_tuner(tmp_path: Path) -> None:
    results = tune.Tuner(
        lambda config: {"loss": config["x"] ** 2 + config["net"]["layers"]},
        param_space=SPACE,
        tune_config=tune.TuneConfig(
            metric="loss",
            mode="min",
            search_alg=ConcurrencyLimiter(FunctionSpaceSearch(seed=1), 2),
            num_samples=6,
        ),
        run_config=tune.RunConfig(storage_path=str(tmp_path), verbose=0),
    ).fit()
    assert len(results) == 6
    assert not results.errors


def test_package_works_without_ray() -> None:
    code = (
        "import sys; sys.modules['ray.tune.search'] = None\n"
        "try:\n    import functionspace_bo.ray\n"
        "except ImportError as err:\n    print(err)\n"
    )
    source = str(Path(sys.modules[FunctionSpaceSearch.__module__].__file__ or "").parents[1])
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": source},
    )
    assert "pip install 'ray[tune]>=2.9'" in done.stdout
