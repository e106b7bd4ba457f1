from __future__ import annotations

import json
import math
import pickle
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from functionspace_bo import (
    Bool,
    Categorical,
    ExhaustedError,
    Fixed,
    Float,
    Int,
    NoValueError,
    Ordinal,
    RequestError,
    Step,
    StoredStudy,
    Study,
    StudyError,
    Trial,
    TrialError,
    minimize,
)

X = {"x": Float(0, 1)}


def test_ask_and_tell() -> None:
    with Study(X, initial=3) as study:
        first = study.ask()
        assert first.number == 1
        assert first.state == "pending"
        assert first.source == "design"
        told = study.tell(first, 2)
        assert told.state == "complete"
        assert told.value == 2.0
        second, third = study.ask(2)
        study.tell(second.number, {"value": 1.5, "seconds": 3})
        study.fail(third, "the oven broke")
        assert [t.state for t in study.trials] == ["complete", "complete", "failed"]
        assert study.trials[1].numbers == {"value": 1.5, "seconds": 3.0}
        assert study.trials[2].message == "the oven broke"
        assert study.best.number == 2
        suggestion = study.ask()
        assert suggestion.source == "suggested"
        assert suggestion.prediction is not None
        assert suggestion.prediction.sd is not None
        assert study.recommend().observed.trial.number == 2


def test_auto_reports_its_selection(tmp_path: Path) -> None:
    file = tmp_path / "study.json"
    with Study(X, initial=2, surrogate="auto") as study:
        for t in study.ask(2):
            study.tell(t, t.params["x"])
        suggestion = study.ask()
        study.tell(suggestion, 1)
        assert suggestion.prediction is not None
        selection = suggestion.prediction.selection
        assert selection is not None
        assert selection["surrogate"] == "gp"
        assert selection["reason"].startswith("not compared")
        study.html_report()
        study.save(file)
    with Study.load(file) as study:
        assert study.trials[2].prediction == suggestion.prediction


def test_suggestions_are_conditioned_on_pending_trials() -> None:
    with Study(X, initial=2, noise_free=True) as study:
        for t in study.ask(2):
            study.tell(t, t.params["x"])
        points = [study.ask().params["x"] for _ in range(3)]
        assert len(set(points)) == 3


@pytest.mark.parametrize("value", [math.nan, math.inf, 1e301, None, "3", [1, 2], {"loss": 1}])
def test_a_value_that_is_not_usable_leaves_the_trial_pending(value: Any) -> None:
    with Study(X) as study:
        t = study.ask()
        with pytest.raises(TrialError):
            study.tell(t, value)
        assert study.trials[0].state == "pending"


def test_faults_of_trials() -> None:
    with Study(X) as study:
        with pytest.raises(TrialError, match="no such trial: 1"):
            study.tell(1, 0.5)
        t = study.ask()
        study.tell(t, 0.5)
        with pytest.raises(TrialError, match="already finished: trial 1 is complete"):
            study.fail(t)
        with pytest.raises(TrialError, match="want at least 1"):
            study.ask(0)


@pytest.mark.parametrize(
    ("space", "options", "message"),
    [
        ({"x": Float(1, 0)}, {}, 'parameter "x": min 1 is above max 0'),
        ({"x": Int(1, 2), "y": Float(0, 1, log=True)}, {}, 'parameter "y": min is 0'),
        ({}, {}, "parameters"),
        (X, {"n_trials": 3}, 'unknown key "n_trials": use budget'),
        (X, {"kernel": "rbff"}, "did you mean rbf?"),
        (X, {"noisefree": True}, 'unknown key "noisefree": did you mean noise_free?'),
        (X, {"length_scale": 0.1}, 'unknown key "length_scale": did you mean lengthscale?'),
        (X, {"surrogate": "gpp"}, 'unknown surrogate "gpp"'),
        (X, {"surrogate": {"name": "gp", "kernel": "rbf"}, "kernel": "rbf"}, "given twice"),
        (X, {"budget": 0}, "budget"),
        (X, {"goal": "up"}, "goal"),
        (
            X,
            {"goal": "maximize", "objectives": [{"name": "y"}]},
            "goal: state them in objectives, as in objectives=[{'name': 'y', 'goal': 'maximize'}]",
        ),
        (X, {"goal": "maximize", "objectives": ["y"]}, "[{'name': 'y', 'goal': 'maximize'}]"),
        ([{"name": "x", "type": "float", "min": 0}], {}, "max is missing"),
        (
            {"x": (-5, 5.0)},
            {},
            "use Float(-5, 5.0) or Int(-5, 5.0) for a range, or [-5, 5.0] for a choice",
        ),
        ({"x": (1, 9, "uniform")}, {}, "Int(1, 9) for a range, or [1, 9, 'uniform'] for a choice"),
        ({"x": (1e-5, 0.1, "log-uniform")}, {}, "use Float(1e-05, 0.1, log=True) or Int("),
        ({"x": (1e-5, 0.1, "Log")}, {}, "use Float(1e-05, 0.1, log=True) or Int("),
    ],
)
def test_faults_of_definitions(space: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(StudyError) as caught:
        Study(space, **options)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_values_keep_their_types() -> None:
    space = {
        "a": Categorical([True, "1", 1.5]),
        "b": Ordinal([1.0, 2.0]),
        "c": Int(0, 1),
        "d": Float(0, 1),
        "e": Fixed(3.0),
        "f": 7,
        "g": ("u", "v"),
        "h": (8, 16, "auto"),
    }
    with Study(space) as study:
        for t in study.ask(10):
            assert list(t.params) == list(space)
            kinds = {name: type(v) for name, v in t.params.items()}
            assert kinds.pop("a") in (bool, str, float)
            assert kinds.pop("h") in (int, str)
            expected = {"b": float, "c": int, "d": float, "e": float, "f": int, "g": str}
            assert kinds == expected


def test_numpy_values() -> None:
    np = pytest.importorskip("numpy")
    space = {"x": Float(np.float64(0), np.float32(1)), "n": Categorical(np.array([1, 2]).tolist())}
    with Study(space, lengthscale=np.array([0.2]), seed=np.int64(3)) as study:
        study.tell(study.ask(), np.float32(0.5))
        study.add({"x": np.float64(0.5), "n": np.int64(2)}, np.array(0.25))
        assert study.best.value == 0.25
        study.ask()


def test_true_is_not_one() -> None:
    for exact in (True, False):
        with Study({"c": [True, 1, "1"], "x": [0, 1]}, noise_free=exact) as study:
            study.enqueue({"c": 1, "x": 0})
            study.enqueue({"c": True, "x": 0})
            asked = study.ask(given={"c": True}).params["c"], study.ask().params["c"]
            assert [type(c) for c in asked] == [bool, int]


def test_a_masked_value_is_not_zero() -> None:
    np = pytest.importorskip("numpy")
    with Study(X) as study:
        trial = study.ask()
        with pytest.raises(TrialError, match="value is not a usable number: nan"):
            study.tell(trial, np.ma.array([1.0, 2.0], mask=True).mean())
        assert study.tell(trial, np.ma.array([1.0, 2.0], mask=[True, False]).mean()).value == 2


def test_enqueue_and_add() -> None:
    with Study({"x": Float(0, 1), "k": Fixed("a")}, noise_free=True, initial=2) as study:
        study.enqueue({"x": 0.25})
        study.enqueue({"x": 0.5})
        added = study.add({"x": 0.25}, 3)
        assert added.source == "added"
        assert added.params == {"x": 0.25, "k": "a"}
        asked = study.ask(2)
        assert (asked[0].params["x"], asked[0].source) == (0.5, "enqueued")
        assert asked[1].source != "enqueued"
        for method in (study.enqueue, lambda point: study.add(point, 1)):
            with pytest.raises(RequestError, match=r"^invalid request: invalid point: .* outside"):
                method({"x": 2})
        with pytest.raises(RequestError, match="unknown"):
            study.add({"y": 2}, 1)
        study.ask()


def test_enqueue_completes_points() -> None:
    space = {
        "x": Float(0, 1),
        "opt": Categorical(["adam", "sgd"]),
        "momentum": Float(0.5, 0.9, when="opt == 'sgd'"),
        "k": Fixed("a"),
    }
    asked = []
    for _ in range(2):
        with Study(space, seed=3) as study:
            study.enqueue({"opt": "sgd"})
            study.enqueue({"opt": "sgd"})
            study.enqueue({"momentum": 0.75})
            study.enqueue({"x": 0.5, "opt": "adam"})
            with pytest.raises(RequestError, match=r'^invalid request: invalid point: .* "y"'):
                study.enqueue({"y": 1})
            asked.append(study.ask(4))
    assert asked[0] == asked[1]
    first, second, third, fourth = (t.params for t in asked[0])
    assert first.keys() == {"x", "opt", "momentum", "k"}
    assert first["x"] != second["x"]
    assert (first["opt"], third["opt"], third["momentum"]) == ("sgd", "sgd", 0.75)
    assert fourth == {"x": 0.5, "opt": "adam", "k": "a"}
    with Study(space) as study, pytest.raises(RequestError, match='parameter "opt": missing'):
        study.add({"x": 0.5}, 1)


def test_a_queue_with_noise_may_repeat_points() -> None:
    with Study(X) as study:
        for _ in range(2):
            study.enqueue({"x": 0.25})
        assert [t.params["x"] for t in study.ask(2)] == [0.25, 0.25]
        assert study.ask().source == "design"


def test_trials_are_shown_briefly() -> None:
    trial = Trial(3, {"x": 0.5})
    assert repr(trial) == "Trial(number=3, params={'x': 0.5}, state='pending', source='suggested')"
    trial = replace(trial, state="complete", value=0.0, numbers={"value": 0.0}, seconds=1.23456)
    trial = replace(trial, steps=(Step(1, 2), Step(2, 0)), feasible=False)
    assert repr(trial) == (
        "Trial(number=3, params={'x': 0.5}, state='complete', value=0.0, numbers={'value': 0.0}, "
        "source='suggested', seconds=1.23, feasible=False, <2 steps>)"
    )


def test_exhausted() -> None:
    with Study({"n": Int(1, 3)}, noise_free=True) as study:
        assert len(study.ask(5)) == 3
        with pytest.raises(ExhaustedError, match="every point"):
            study.ask()
        with pytest.raises(NoValueError):
            study.recommend()


def test_save_and_load(tmp_path: Path) -> None:
    path = tmp_path / "study.json"
    space = {"x": Float(0, 1), "o": Categorical(["a", True])}
    with Study(space, initial=3, kernel="rbf") as study:
        for t in study.ask(3):
            study.tell(t, t.params["x"])
        study.tell(study.ask(), 0.5)
        pending = study.ask()
        study.enqueue({"x": 0.125, "o": True})
        study.save(path)
        with Study.load(path) as loaded:
            assert loaded.trials == study.trials
            assert loaded.definition == study.definition
            assert loaded.ask() == pending
            for s in (study, loaded):
                s.tell(pending, 0.1)
            assert [loaded.ask() for _ in range(2)] == [study.ask() for _ in range(2)]
    for text, message in (
        ("{", "study.json: "),
        ("[]", "not a file that Study.save wrote"),
        (path.read_text().replace('"version": 1', '"version": 9', 1), "version is 9"),
    ):
        path.write_text(text)
        with pytest.raises(StudyError, match=message):
            Study.load(path)


def test_a_failed_save_keeps_the_file(tmp_path: Path) -> None:
    path = tmp_path / "study.json"
    path.write_text("old")
    with Study(X) as study:
        study._warm = object()
        with pytest.raises(TypeError):
            study.save(path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_pickle() -> None:
    with Study(X, initial=2) as study:
        for t in study.ask(2):
            study.tell(t, t.params["x"])
        with pickle.loads(pickle.dumps(study)) as copy:
            assert copy.ask() == study.ask()


def test_from_file(tmp_path: Path) -> None:
    path = tmp_path / "study.yaml"
    path.write_text("parameters:\n  - {name: x, type: float, min: 0, max: 1}\nbudget: 7\n")
    with Study.from_file(path) as study:
        assert study.definition["budget"] == 7
        assert len(study.run(lambda p: p["x"]).trials) == 7
    path.write_text("parameters: []\nbudgt: 3\n")
    with pytest.raises(StudyError, match=r"study\.yaml: "):
        Study.from_file(path)
    with pytest.raises(StudyError, match="no such file"):
        Study.from_file(tmp_path / "none.yaml")


def test_records_and_dataframe() -> None:
    pytest.importorskip("pandas")
    with Study({"x": Float(0, 1), "value": Fixed(3)}) as study:
        study.tell(study.ask(), 0.5)
        study.fail(study.ask(), "no")
        rows = study.records()
        assert rows[0]["trial"] == 1
        assert rows[0]["numbers"] == {"value": 0.5}
        assert rows[1]["message"] == "no"
        json.dumps(rows)
        table = study.dataframe()
        columns = ["trial", "x", "params.value", "value", "state", "seconds", "message"]
        assert list(table.columns) == columns
        assert table["state"].tolist() == ["complete", "failed"]
        assert table["params.value"].tolist() == [3, 3]


def test_columns_of_conditional_parameters_keep_their_types() -> None:
    pandas = pytest.importorskip("pandas")
    space = {
        "opt": Categorical(["sgd", "adam"]),
        "layers": Int(1, 9, when="opt == 'sgd'"),
        "nesterov": Categorical([False, True], when="opt == 'sgd'"),
        "beta": Float(0, 1, when="opt == 'adam'"),
        "mix": Categorical([1, "one"], when="opt == 'adam'"),
        "deep": Int(1, 2),
    }
    with Study(space) as study:
        study.enqueue({"opt": "sgd", "layers": 3, "nesterov": True, "deep": 2})
        study.enqueue({"opt": "adam", "beta": 0.5, "mix": 1, "deep": 2})
        study.ask(2)
        table = study.dataframe()
    kinds = {name: str(table[name].dtype) for name in space}
    assert kinds["layers"] == "Int64"
    assert kinds["nesterov"] == "boolean"
    assert kinds["beta"] == "float64"
    assert kinds["deep"] == "int64"
    assert table["layers"][0] == 3
    assert table["layers"][1] is pandas.NA
    assert table["mix"][1] == 1


def test_the_parameters_of_a_study_file() -> None:
    parameters: list[dict[str, Any]] = [
        {"name": "x", "type": "float", "min": 0, "max": 1},
        {"name": "o", "type": "ordinal", "values": [1, 2]},
    ]
    result = minimize(lambda p: p["x"] + p["o"], parameters, budget=8)
    assert len(result.trials) == 8


def test_earlier_evaluations_have_defaults_or_a_warning() -> None:
    space = {"x": Float(0, 1), "y": Float(0, 1)}
    earlier: Any = [{"params": {"x": 0.2}, "value": 1}]
    with Study(space, defaults={"y": 0.5}, earlier=earlier) as study:
        assert [t.params for t in study.trials] == [{"x": 0.2, "y": 0.5}]
    earlier = [{"params": {"x": 0.7, "y": 0.1}, "value": 1}, {"params": {"x": 0.2, "y": 0}}]
    earlier[1]["state"] = "failed"
    with (
        pytest.warns(UserWarning, match="earlier: 1 of 2 evaluations are left out"),
        Study(space, constraints=["x <= 0.5"], earlier=earlier) as study,
    ):
        assert [t.state for t in study.trials] == ["failed"]


def test_earlier_evaluations_of_a_table(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("x,value\n0.1,2\n0.4,1\n")
    for earlier in (str(table), table):
        with Study(X, earlier=earlier) as study:
            assert [t.state for t in study.trials] == ["complete", "complete"]
    with pytest.raises(StudyError, match=r"^earlier: open .*none\.csv: no such file"):
        Study(X, earlier=str(tmp_path / "none.csv"))


def test_evaluations_made_elsewhere_need_no_cost(tmp_path: Path) -> None:
    options: Any = {
        "end": {"cost": "dollars <= 5"},
        "earlier": [{"params": {"x": 0.1}, "value": 1}],
    }
    with Study(X, **options) as study:
        study.add({"x": 0.5}, 2)
        assert [t.value for t in study.trials] == [1, 2]
        with pytest.raises(TrialError, match="dollars"):
            study.tell(study.ask(), 3)
    assert [t.value for t in Study.create(tmp_path / "bo.db", "s", X, **options).trials] == [1]


def test_failures_of_earlier_evaluations_end_no_run() -> None:
    earlier: Any = [{"params": {"x": x / 10}, "state": "failed"} for x in range(3)]
    with Study(X, earlier=earlier) as study:
        result = study.run(lambda p: 1 / (p["x"] > 0.3), budget=4, max_failures=3)
    assert sum(t.source != "added" for t in result.trials) == 4


def test_what_a_table_of_earlier_evaluations_leaves_out(tmp_path: Path) -> None:
    text = "x,value,state,colour\n0.1,2,,red\n0.2,,pending,red\n0.3,3,stopped,red\n"
    table, file = tmp_path / "t.csv", tmp_path / "s.json"
    table.write_text(text)
    file.write_text(
        '{"parameters": [{"name": "x", "type": "float", "min": 0, "max": 1}], "earlier": "t.csv"}'
    )
    frame = pytest.importorskip("pandas").read_csv(table)
    makers: list[tuple[str, Callable[[], Any]]] = [
        (str(table), lambda: Study(X, earlier=table).close()),
        (str(table), lambda: Study.from_file(file).close()),
        (str(table), lambda: Study.create(tmp_path / "bo.db", "s", X, earlier=table)),
        ("data frame", lambda: Study(X, earlier=frame).close()),
    ]
    for name, make in makers:
        with pytest.warns(UserWarning, match="left out") as caught:
            make()
        texts = [str(w.message).removeprefix(f"{name}: ") for w in caught]
        assert texts == [
            "columns that are neither parameters nor numbers are left out: colour",
            "pending rows are left out: 1",
            "rows of lost or stopped trials are left out: 1",
        ]
        assert [w.filename for w in caught] == [__file__] * 3, name


def test_earlier_evaluations_of_a_data_frame() -> None:
    pandas = pytest.importorskip("pandas")
    space = {"x": Float(0, 1), "n": Int(1, 9), "on": Bool(), "k": Categorical(["a b", "c,d"])}
    with Study(space, require=["size <= 3"]) as study:
        for x, n, on, k in ((0.1, 3, True, "a b"), (1 / 3, 4, False, "c,d")):
            study.add({"x": x, "n": n, "on": on, "k": k}, {"value": n * x, "size": n})
        trials = study.trials
        columns = {
            **{p: [t.params[p] for t in trials] for p in space},
            **{name: [t.numbers[name] for t in trials] for name in ("value", "size")},
        }
    frame = pandas.DataFrame(columns, index=[7, 9])
    with Study(space, require=["size <= 3"], earlier=frame) as study:
        assert [t.params for t in study.trials] == [t.params for t in trials]
        assert [t.numbers for t in study.trials] == [t.numbers for t in trials]
    with pytest.raises(StudyError, match=r"^earlier: data frame: .*size"):
        Study(space, require=["size <= 3"], earlier=frame.drop(columns="size"))
    frame.loc[9, "n"] = 99
    with (
        pytest.warns(UserWarning, match="earlier: 1 of 2 evaluations are left out"),
        Study(space, require=["size <= 3"], earlier=frame) as study,
    ):
        assert len(study.trials) == 1


@pytest.mark.filterwarnings("ignore:.*is no finite number")
def test_further_numbers_fail_no_trial() -> None:
    with Study({"x": Float(0, 1)}, require=["gap <= 1"]) as study:
        t = study.tell(study.ask(), {"value": 1, "gap": 0, "nan": math.nan, "note": 1e308})
        assert t.numbers == {"value": 1, "gap": 0}
        with pytest.raises(TrialError, match="gap is not a usable number: nan"):
            study.tell(study.ask(), {"value": 1, "gap": math.nan})


def test_lost_trials(tmp_path: Path) -> None:
    """The model ignores a lost trial, in memory and in a stored study, and after load."""
    space = {"x": Float(0, 1), "y": Float(0, 1)}
    points = {}
    stored = Study.create(tmp_path / "bo.db", "lost", space)
    with Study(space) as lost, Study(space) as failed:
        studies: dict[str, Study | StoredStudy] = {
            "lost": lost,
            "failed": failed,
            "stored": stored,
        }
        for name, study in studies.items():
            trials = study.ask(6)
            best = trials[0].params
            for t in trials[1:]:
                study.tell(t, math.dist(t.params.values(), best.values()))
            study.fail(1, "the oven broke", lost=study is not failed)
            first = study.trials[0]
            assert (first.state, first.lost) == ("failed", study is not failed)
            assert first.record().get("failure") == ("lost" if first.lost else None)
            if isinstance(study, Study):
                study.save(tmp_path / f"{name}.json")
            points[name] = study.ask().params
            study.html_report()
    points["loaded"] = Study.load(tmp_path / "lost.json").ask().params
    assert points["lost"] == points["stored"] == points["loaded"] != points["failed"]


def test_the_point_of_a_lost_trial() -> None:
    with Study({"n": Int(1, 2)}, noise_free=True) as study:
        study.tell(study.ask(), 1)
        point = study.fail(study.ask(), lost=True).params
        study.enqueue(point)
        assert study.ask().params == point
        study.fail(3, lost=True)
        assert study.ask().params == point


def test_given_values() -> None:
    space = {"x": Float(0, 1), "humidity": Float(0, 100), "batch": Categorical(["A", "B"])}
    with Study(space, initial=4) as study:
        study.enqueue({"x": 0.25, "humidity": 40, "batch": "A"})
        study.enqueue({"x": 0.5, "humidity": 61, "batch": "B"})
        assert study.ask(given={"batch": "B"}).params["x"] == 0.5
        today = {"humidity": 61.5, "batch": "B"}
        for i in range(6):
            trial = study.ask(given=today)
            assert {name: trial.params[name] for name in today} == today
            study.tell(trial, (trial.params["x"] - 0.3) ** 2 + i / 100)
        assert study.trials[-1].source == "suggested"
        assert [t.params["humidity"] for t in study.ask(3, given={"humidity": 20})] == [20] * 3
        waiting = study.ask()
        assert waiting.source == "enqueued"
        assert waiting.params == {"x": 0.25, "humidity": 40, "batch": "A"}
        with pytest.raises(RequestError, match=r'given: .*"humidity": 161 is outside'):
            study.ask(given={"humidity": 161})
        with pytest.raises(RequestError, match="the point is 3, want values by name"):
            study.ask(given=3)  # type: ignore[call-overload]


def test_a_given_parameter() -> None:
    space = {
        "x": Float(0, 1),
        "humidity": Int(20, 90, given=True),
        "b": Categorical(["A", "B"], given=True),
    }
    with Study(space) as study:
        trial = study.ask(given={"humidity": 61, "b": "A"})
        assert trial.params["humidity"] == 61
        with pytest.raises(RequestError, match='"humidity": its value is given, never suggested'):
            study.ask(given={"b": "A"})
    with pytest.raises(RequestError, match='"b": its value is given, never suggested'):
        minimize(lambda p: p["x"], space, budget=3)
    listed = [
        {"name": "c", "type": "bool", "given": True},
        {"name": "x", "type": "float", "min": 0, "max": 1},
    ]
    with Study(listed) as study, pytest.raises(RequestError, match='"c": its value is given'):
        study.ask()


def test_given_values_of_interrupted_trials(tmp_path: Path) -> None:
    file = tmp_path / "study.json"
    with Study({"x": Float(0, 1), "n": Int(1, 3)}, initial=3) as study:
        for n in (1, 2, 1):
            study.ask(given={"n": n})
        study.save(file)
    with Study.load(file) as study:
        assert [t.number for t in study.ask(2, given={"n": 2})] == [2, 4]
        assert [t.number for t in study.ask(3)] == [1, 3, 5]


def test_corrections() -> None:
    with Study({"x": Float(0, 1)}, initial=3, require=["cost <= 2"], seed=3) as study:
        first, second, third = study.ask(3)
        with pytest.raises(TrialError, match=r"^trial 1 has no result to correct$"):
            study.tell(first, {"value": 1, "cost": 3}, correct=True)
        with pytest.raises(TrialError, match="no such trial: 9"):
            study.fail(9, correct=True)
        told = study.tell(first, {"value": 71.0, "cost": 1, "mill": "A"})
        study.tell(second, {"value": 2.0, "cost": 1})
        study.tell(third, {"value": 3.0, "cost": 1})
        with pytest.raises(
            TrialError, match=r"trial 1 is complete; correct=True replaces a result$"
        ):
            study.tell(first, {"value": 7.0, "cost": 1})
        mistyped = study.ask()
        assert mistyped.prediction is not None
        assert study.best.number == 2
        told = study.tell(first, {"value": 0.5}, correct=True)
        assert (told.value, told.numbers) == (0.5, {"value": 0.5, "cost": 1.0})
        assert told.message == "mill=A"
        assert study.best.number == 1
        assert study.tell(first, {"cost": 3}, correct=True).feasible is False
        assert study.best.number == 2
        with pytest.raises(TrialError, match="its result has x=7"):
            study.tell(first, {"x": 7}, correct=True)
        assert study.fail(second, "no salt", lost=True, correct=True).lost
        assert study.trials[1].value is None
        assert study.trials[1].numbers == {}
        study.tell(second, {"value": 2.0, "cost": 1}, correct=True)
        study.tell(first, {"value": 1.0, "cost": 1}, correct=True)
        study.fail(mistyped, lost=True)
        corrected = study.ask()

    with Study({"x": Float(0, 1)}, initial=3, require=["cost <= 2"], seed=3) as other:
        trials = other.ask(3)
        for trial, value in zip(trials, (1.0, 2.0, 3.0), strict=True):
            other.tell(trial, {"value": value, "cost": 1})
        other.fail(other.ask(), lost=True)
        other.close()
        other._warm = None
        assert other.ask().params == corrected.params


def test_corrections_of_several_threads() -> None:
    with Study({"x": Float(0, 1)}, require=["cost <= 2"]) as study:
        study.tell(study.ask(), {"value": 71.0, "cost": 3})
        threads = [
            threading.Thread(target=study.tell, args=(1, numbers), kwargs={"correct": True})
            for numbers in ({"value": 1.0}, {"cost": 1.0})
        ]
        with study._suggestions.busy:  # as during a suggestion
            for thread in threads:
                thread.start()
            time.sleep(0.2)
        for thread in threads:
            thread.join()
        assert study.trials[0].numbers == {"value": 1.0, "cost": 1.0}


def test_a_stopped_trial_has_no_correction() -> None:
    with Study({"x": Float(0, 1)}, stop={"rule": "median", "startup": 1}) as study:
        first, second = study.ask(2)
        first.report(1, 1.0)
        study.tell(first, 1.0)
        second.report(1, 9.0)
        with pytest.raises(TrialError, match="trial 2 is stopped"):
            study.tell(second, 9.0, correct=True)
