"""Several objectives and outcome constraints."""

from __future__ import annotations

import math
import pickle
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from functionspace_bo import (
    FailuresError,
    Float,
    NoValueError,
    RequestError,
    Study,
    StudyError,
    Trial,
    TrialError,
    minimize,
)

X = {"x": Float(0, 1)}
BOTH: Any = {"objectives": ["loss", {"name": "gain", "goal": "maximize"}]}


def both(params: dict[str, Any]) -> dict[str, float]:
    x = params["x"]
    return {"loss": x**2, "gain": 1 - (x - 1) ** 2, "seconds": 3}


def test_several_objectives() -> None:
    result = minimize(both, X, budget=12, **BOTH)
    assert result.pareto is not None
    assert result.recommendation is None
    front = result.pareto.front
    assert len(front) > 5  # every point is on the front
    assert [t.number for t in front] == sorted(t.number for t in front)
    assert set(result.pareto.reference) == {"loss", "gain"}
    volumes = result.pareto.hypervolume
    assert len(volumes) == 12
    assert volumes == sorted(volumes)
    assert volumes[-1] > 0
    assert front[0].value is None
    assert front[0].numbers["seconds"] == 3
    assert "on the Pareto front" in repr(result)
    for use in (lambda: result.best, lambda: result.value, lambda: result.incumbents):
        with pytest.raises(RequestError, match="2 objectives, and no single trial is the best"):
            use()


def test_a_study_with_several_objectives(tmp_path: Path) -> None:
    with Study(X, initial=3, **BOTH) as study:
        assert study.pareto().front == []
        for t in study.ask(3):
            for value in (1.0, {"loss": 1.0}, {"loss": 1.0, "gain": float("nan")}):
                with pytest.raises(TrialError):
                    study.tell(t, value)
            study.tell(t, both(t.params))
        added = study.add({"x": 0.5}, both({"x": 0.5}))
        assert added in study.pareto().front
        for use in (lambda: study.best, study.recommend):
            with pytest.raises(RequestError, match="no single trial is the best"):
                use()
        with pytest.raises(StudyError, match="target is for one objective"):
            study.run(both, target=0.1)
        study.save(tmp_path / "study.json")
        with Study.load(tmp_path / "study.json") as loaded:
            assert loaded.pareto() == study.pareto()
            assert loaded.ask() == study.ask()
        assert pickle.loads(pickle.dumps(study)).pareto() == study.pareto()
    with Study(X) as study, pytest.raises(RequestError, match="for several objectives"):
        study.pareto()


def test_a_stored_study_with_several_objectives(tmp_path: Path) -> None:
    study = Study.create(tmp_path / "bo.db", "demo", X, initial=3, **BOTH)
    for t in study.ask(3):
        study.tell(t, both(t.params))
    shown = Study.open(tmp_path / "bo.db", "demo").pareto()
    assert [t.number for t in shown.front] == [1, 2, 3]
    assert len(shown.hypervolume) == 3
    assert shown.front[0].params == study.trials[0].params
    with pytest.raises(RequestError, match="no single trial is the best"):
        _ = study.best
    one = Study.create(tmp_path / "bo.db", "one", X)
    with pytest.raises(RequestError, match="several objectives"):
        one.pareto()


def test_the_front_of_the_model(tmp_path: Path) -> None:
    """The front of the posterior means is equal in memory, in a stored study and in a result."""
    noise = [0.3, -0.2, 0.1, 0.2, -0.3, 0.0, 0.1, -0.1, 0.2]

    def noisy(params: dict[str, Any]) -> dict[str, float]:
        return {**both(params), "loss": params["x"] ** 2 + noise[int(97 * params["x"]) % 9]}

    options: Any = {**BOTH, "require": ["gain >= 0.2"], "budget": 9}
    result = minimize(noisy, X, **options)
    stored = Study.create(tmp_path / "bo.db", "front", X, **options).run(noisy)
    with Study(X, **options) as study:
        assert study.pareto().model is None
        with pytest.raises(NoValueError):
            study.pareto(model=True)
        study.run(noisy)
        again = study.pareto(model=True)
    assert result.pareto is not None
    assert stored.pareto is not None
    means = result.pareto.model
    assert means
    for other in (again.model, stored.pareto.model):
        assert other is not None
        assert [(e.trial.number, e.mean, e.sd, e.feasible) for e in other] == [
            (e.trial.number, e.mean, e.sd, e.feasible) for e in means
        ]
    for e in means:
        assert e.feasible is not None
        assert e.feasible >= 0.5
        assert e.sd["loss"] > 0.01  # the noise is large
        assert not any(
            u.mean["loss"] < e.mean["loss"] and u.mean["gain"] > e.mean["gain"] for u in means
        )
    exact = minimize(
        both,
        X,
        objectives=[
            {"name": "loss", "noise_free": True},
            {"name": "gain", "goal": "maximize", "noise_free": True},
        ],
        budget=6,
    ).pareto
    assert exact is not None
    assert exact.model is not None
    assert [e.trial for e in exact.model] == exact.front
    assert {e.feasible for e in exact.model} == {None}
    with Study(X) as one, pytest.raises(RequestError, match="several objectives"):
        one.pareto(model=True)


def test_the_feasibility_of_a_recommendation(tmp_path: Path) -> None:
    options: Any = {"objectives": ["loss"], "require": ["gain >= 0.5"], "budget": 8}
    stored = Study.create(tmp_path / "bo.db", "one", X, **options).run(both).recommendation
    found = minimize(both, X, **options).recommendation
    assert found is not None
    assert stored is not None
    for e, other in ((found.model, stored.model), (found.observed, stored.observed)):
        assert e.feasible is not None
        assert 0 < e.feasible <= 1
        assert other.feasible == e.feasible
    plain = minimize(lambda p: p["x"], X, budget=4).recommendation
    assert plain is not None
    assert plain.model.feasible is None


def limited(params: dict[str, Any]) -> dict[str, float]:
    return {"value": params["x"], "latency": 10 * (1 - params["x"])}


def test_requirements() -> None:
    options: Any = {"require": ["latency <= 7"], "noise_free": True}
    result = minimize(limited, X, budget=15, **options)
    assert 0.3 <= result.value < 0.31
    assert result.best.feasible
    for t in result.trials:
        assert t.feasible == (t.numbers["latency"] <= 7)
        assert t.record()["feasible"] == t.feasible
    assert all(t.feasible for t in result.incumbents[1:])
    with Study(X, **options) as study:
        t = study.ask()
        with pytest.raises(TrialError, match='no number named "latency" was reported, only value'):
            study.tell(t, 1.0)
        with pytest.raises(NoValueError):
            _ = study.best


def test_the_trial_that_violates_least_without_a_feasible_one() -> None:
    with Study(X, require=["a <= 0", "b >= 10"]) as study:
        for x, a, b in ((0.1, 1, 9), (0.2, 5, 10), (0.3, 2, 5), (0.4, 0.5, 0)):
            study.add({"x": x}, {"value": 0, "a": a, "b": b})
        # As loop.Options.Best: the violations are 1/4.5 + 1/10, 5/4.5, 2/4.5 + 5/10, 0.5/4.5 + 1.
        assert study.best.number == 1
        assert study.recommend().observed.trial == study.best
        study.add({"x": 0.5}, {"value": 9, "a": -1, "b": 11})
        assert study.best.number == 5


def test_progress_of_several_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    minimize(both, X, budget=3, progress=True, **BOTH)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 3
    assert lines[0].startswith("trial 1/3  loss ")
    assert "  gain " in lines[0]
    minimize(limited, X, budget=4, progress=True, require=["latency <= 7"])
    assert "(infeasible)" in capsys.readouterr().err


def test_data_frames() -> None:
    pytest.importorskip("pandas")
    result = minimize(both, X, budget=3, **BOTH)
    columns = list(result.dataframe().columns)
    assert columns == [
        "trial",
        "x",
        "loss",
        "gain",
        "numbers.seconds",
        "state",
        "seconds",
        "message",
    ]
    frame = minimize(limited, X, budget=3, require=["latency <= 7"]).dataframe()
    assert list(frame.columns)[:4] == ["trial", "x", "value", "latency"]


@pytest.mark.parametrize("stored", [False, True])
def test_a_tuple_has_the_objectives_in_their_order(stored: bool, tmp_path: Path) -> None:
    study: Any = Study(X, objectives=["loss", "latency"])
    if stored:
        study = Study.create(tmp_path / "bo.db", "demo", X, objectives=["loss", "latency"])
    assert study.tell(study.ask(), (1, 2)).numbers == {"loss": 1, "latency": 2}
    assert study.tell(study.ask(), [3, 4]).numbers == {"loss": 3, "latency": 4}
    with pytest.raises(TrialError, match="want 2 numbers: loss, latency"):
        study.tell(study.ask(), (1, 2, 3))
    with pytest.raises(TrialError, match=r"loss is not a usable number: nan$"):
        study.tell(study.ask(), (math.nan, 1))
    with pytest.raises(
        TrialError, match=r"latency is not a usable number: 2e\+300 is beyond ±1e\+300"
    ):
        study.tell(study.ask(), (1, 2e300))
    with Study(X) as one, pytest.raises(TrialError, match="want a number"):
        one.tell(one.ask(), (1, 2))


@pytest.mark.parametrize(
    ("goal", "named"), [(None, '"auc"'), ("maximize", '{"name": "auc", "goal": "maximize"}')]
)
def test_a_number_of_an_unnamed_objective(goal: Any, named: str) -> None:
    with (
        Study(X, goal=goal) as study,
        pytest.raises(TrialError) as caught,
    ):
        study.tell(study.ask(), {"auc": 1})
    assert str(caught.value).endswith(f" value, or name the objective: objectives=[{named}]")


def test_missing_numbers_name_the_dictionary() -> None:
    with (
        Study(X, objectives=["loss", "latency"], require=["memory <= 1"]) as study,
        pytest.raises(TrialError, match="want a dictionary with loss, latency, memory"),
    ):
        study.tell(study.ask(), (1, 2))


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        ({"los": 1, "latency": 2}, 'no number named "loss" was reported, only latency, los'),
        ({"loss": 1, "latncy": 2}, 'no number named "latency" was reported, only latncy, loss'),
        ({"error": "diverged"}, 'no number named "loss" was reported: want'),
        (1, 'no number named "latency" was reported, only loss'),
    ],
)
@pytest.mark.parametrize("workers", [1, 3])
def test_a_wrong_name_does_not_take_the_budget(value: Any, fault: str, workers: int) -> None:
    options: Any = {"objectives": ["loss"], "require": ["latency <= 1"], "failures": "expected"}
    with Study(X, **options) as study:
        with pytest.raises(FailuresError, match=fault) as caught:
            study.run(lambda _: value, 20, workers=workers)
        assert caught.value.result is not None
        assert {t.state for t in study.trials} == {"pending"}
        assert len(study.trials) <= max(workers, 4)
        result = study.run(lambda _: {"loss": 1, "latency": 2}, 5)
        assert [t.state for t in result.trials] == ["complete"] * 5


@pytest.mark.parametrize("value", [None, (0.5, 0.1), "0.5", {"value": None}, {"loss": 1}])
@pytest.mark.parametrize("stored", [False, True])
def test_a_result_without_its_number_does_not_take_the_budget(
    value: Any, stored: bool, tmp_path: Path
) -> None:
    study: Any = Study(X, budget=5)
    if stored:
        study = Study.create(tmp_path / "bo.db", "demo", X, budget=5)
    calls: list[Any] = []

    def f(params: dict[str, Any]) -> Any:
        calls.append(params)
        return value

    with pytest.raises(FailuresError, match="trial 1 stays pending") as caught:
        study.run(f)
    assert len(calls) == 1
    message = str(caught.value)
    assert ("no number named" if "loss" in str(value) else ", want a number") in message
    assert ("is a return missing?" in message) == ("None" in str(value))
    assert ("state the names of several numbers in objectives" in message) == (value == (0.5, 0.1))
    assert {t.state for t in study.trials} == {"pending"}
    result = study.run(lambda p: p["x"])
    assert [t.state for t in result.trials] == ["complete"] * 5


@pytest.mark.parametrize("pool", [False, True])
def test_a_stopped_function_returns_nothing(pool: bool, tmp_path: Path) -> None:
    """Its result is not missing, also if it is the first one of a run."""
    options: Any = {"stop": {"rule": "median", "min_steps": 1, "startup": 2}, "budget": 6}
    study = Study.create(tmp_path / "bo.db", "demo", X, **options)
    study.run(reporting, callback=lambda _, t: t.number == 3)
    with ProcessPoolExecutor(1) if pool else nullcontext() as executor:
        result = study.run(worse, executor=executor)
    assert [t.state for t in result.trials] == ["complete"] * 3 + ["stopped"] * 3


def reporting(params: dict[str, Any], trial: Trial) -> float:
    trial.report(1, 0.5)
    return 0.5


def worse(params: dict[str, Any], trial: Trial) -> float | None:
    return None if trial.report(1, 0.9) else 0.5


@pytest.mark.parametrize("value", [None, math.nan, {"loss": math.nan}])
def test_no_usable_number_is_a_failed_trial(value: Any) -> None:
    options: Any = {"objectives": ["loss"], "require": ["latency <= 1"], "failures": "expected"}
    with Study(X, **options) as study:
        with pytest.raises(NoValueError):
            study.run(lambda _: value, 5)
        assert {t.state for t in study.trials} == {"failed"}


def test_a_number_that_some_trials_lack() -> None:
    def f(p: dict[str, Any], trial: Trial) -> Any:
        return {"loss": 1, "latency": 2} if trial.number % 2 else {"loss": p["x"]}

    result = minimize(f, X, objectives=["loss"], require=["latency <= 1"], budget=6)
    assert [t.state for t in result.trials] == ["complete", "failed"] * 3


@pytest.mark.parametrize("note", [None, math.nan, [1]])
def test_a_number_that_is_none_warns(note: Any, tmp_path: Path) -> None:
    stored = Study.create(tmp_path / "bo.db", "s", X)
    with Study(X) as study:
        for s in (study, stored):
            with pytest.warns(UserWarning, match='"note" is no finite number') as caught:
                told = s.tell(s.ask(), {"value": 1, "note": note, "cost": 2})
            assert len(caught) == 1
            assert told.numbers == {"value": 1, "cost": 2}


def test_texts_of_a_result(tmp_path: Path) -> None:
    result: dict[str, Any] = {
        "value": 1,
        "saved": "/runs/7",
        "kind": "a=b, c",
        "empty": "",
        "cost": 2,
    }
    stored = Study.create(tmp_path / "bo.db", "s", X, budget=3)
    with Study(X) as study:
        for s in (study, stored):
            told = s.tell(s.ask(), result)
            assert told.numbers == {"value": 1, "cost": 2}
            assert told.message == "kind=a=b, c, saved=/runs/7"
            assert s.trials[0].message == told.message
    for trials in (minimize(lambda p: result, X, budget=2), stored.run(lambda p: result)):
        assert [t.message for t in trials.trials][-1] == "kind=a=b, c, saved=/runs/7"
    assert stored.tell(1, {"value": 2}, correct=True).message == told.message
    assert stored.tell(1, {"value": 2, "saved": "no"}, correct=True).message == "saved=no"


@pytest.mark.parametrize("stored", [False, True])
def test_result_at_other_settings(stored: bool, tmp_path: Path) -> None:
    """A number with the name of a parameter has the value of the parameter in the trial."""
    study: Any = Study.create(tmp_path / "bo.db", "demo", X) if stored else Study(X)
    trial = study.ask()
    with pytest.raises(TrialError, match=r"was suggested at x=.*, and its result has x=7"):
        study.tell(trial, {"value": 1.0, "x": 7.0})
    told = study.tell(trial, {"value": 1.0, "x": float(f"{trial.params['x']:.6g}")})
    assert told.value == 1.0


@pytest.mark.parametrize("stored", [False, True])
def test_objective_with_the_name_of_a_parameter(stored: bool, tmp_path: Path) -> None:
    space = {"value": Float(0, 1), "flag": [True, False]}
    study: Any = Study.create(tmp_path / "bo.db", "demo", space) if stored else Study(space)
    trial = study.ask()
    assert study.tell(trial, {"value": 3.0, "flag": trial.params["flag"]}).value == 3.0
