"""Choices that are no number, text or boolean: None, tuples, lists and other objects."""

from __future__ import annotations

import itertools
import math
import pickle
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from conftest import Server

from functionspace_bo import (
    Categorical,
    Fixed,
    Float,
    Int,
    RequestError,
    StoredStudy,
    Study,
    StudyError,
    minimize,
)


class Kernel:
    """An object that equals only itself, and whose representation has an address."""


SMOOTH, ROUGH = Kernel(), Kernel()

CHOICES: list[tuple[list[Any], list[Any]]] = [
    ([None, 5, 10], ["None", 5, 10]),
    ([(32,), (64, 32)], ["(32,)", "(64, 32)"]),
    ([[32], [64, 32], []], ["[32]", "[64, 32]", "[]"]),
    (["auto", None, True, 0.5], ["auto", "None", True, 0.5]),
    ([(1, "a"), [None, 2.5], {"b": (1,)}], ["(1, 'a')", "[None, 2.5]", "{'b': (1,)}"]),
    ([math.sin, Kernel, "cos"], ["sin", "Kernel", "cos"]),
    ([math.inf, 1, 2], ["inf", 1, 2]),
    ([{10, 2}, {2, 3, 10}, set()], ["{2, 10}", "{2, 3, 10}", "set()"]),
    ([("a", {"d", "c", "bb"}), frozenset()], ["('a', {'c', 'd', 'bb'})", "frozenset()"]),
    ([frozenset({"b", "a"}), {"k": [{3, 1}]}], ["frozenset({'a', 'b'})", "{'k': [{1, 3}]}"]),
    (["None", "(64, 32)", 3], ["None", "(64, 32)", 3]),
    ([1, True, "True", (1,)], [1, True, "True", "(1,)"]),
]

NUMBERS = itertools.count()

Door = Callable[..., Any]


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    server = Server(tmp_path_factory.mktemp("labels"))
    yield server.url
    server.kill()


@pytest.fixture(params=["memory", "stored", "served"])
def door(request: pytest.FixtureRequest, tmp_path: Path) -> Door:
    """Returns a study of a space, in memory, in a store or of a service."""
    if request.param == "memory":
        return Study
    store = str(tmp_path / "bo.db")
    if request.param == "served":
        store = request.getfixturevalue("url")
    name = f"s{next(NUMBERS)}"

    def create(space: Any, **options: Any) -> StoredStudy:
        return Study.create(store, name, space, exist_ok=True, **options)

    return create


def same(found: Any, wanted: Any) -> bool:
    """Reports whether two values are equal and of one type."""
    return type(found) is type(wanted) and bool(found == wanted)


@pytest.mark.parametrize(("choices", "labels"), CHOICES)
def test_every_door_takes_and_returns_objects(
    door: Door, choices: list[Any], labels: list[Any]
) -> None:
    study = door({"x": Float(0, 1), "c": Categorical(choices)}, noise_free=True)
    assert study.definition["parameters"][1]["values"] == labels
    for choice in choices:
        study.enqueue({"x": 0.5, "c": choice})
    for choice in choices:
        trial = study.ask()
        assert same(trial.params["c"], choice)
        study.tell(trial, trial.params["x"])
    for choice in choices:
        assert same(study.ask(given={"c": choice}).params["c"], choice)
    trials = study.trials
    assert all(same(t.params["c"], c) for t, c in zip(trials, choices * 2, strict=True))
    assert same(study.best.params["c"], choices[0])
    assert same(study.recommend().observed.trial.params["c"], choices[0])
    assert same(study.recommend(given={"c": choices[-1]}).params["c"], choices[-1])
    points = [{"x": 0.25, "c": c} for c in choices]
    assert [p.params for p in study.predict(points)] == points
    assert [r["params"]["c"] for r in study.records()] == labels * 2


@pytest.mark.parametrize(("choices", "labels"), CHOICES)
def test_a_stored_study_has_labels_without_the_space(
    choices: list[Any], labels: list[Any], tmp_path: Path
) -> None:
    space = {"x": Float(0, 1), "c": Categorical(choices)}
    store = str(tmp_path / "bo.db")
    stored = Study.create(store, "s", space)
    stored.tell(stored.ask(), 1)
    with Study(space) as study:
        study.tell(study.ask(), 1)
        study.enqueue({"x": 0.5, "c": choices[0]})
        study.save(tmp_path / "s.json")
    for opened in (Study.open(store, "s"), Study.load(tmp_path / "s.json")):
        assert opened.trials[0].params["c"] in labels
        opened.enqueue({"x": 0.1, "c": labels[1]})
        assert opened.ask().params["c"] in labels
    bound = Study.open(store, "s", space=space)
    again = Study.create(store, "s", space, exist_ok=True)
    with Study.load(tmp_path / "s.json", space=space) as loaded:
        for opened in (bound, again, loaded):
            for t in opened.trials:
                assert any(same(t.params["c"], c) for c in choices)
    with Study.load(tmp_path / "s.json", space=space) as loaded:
        assert same(loaded.ask().params["c"], choices[0])


def test_opening_with_another_space_warns(tmp_path: Path, url: str) -> None:
    space = {"depth": [None, 5], "x": Float(0, 1)}
    for store in (str(tmp_path / "bo.db"), url):
        Study.create(store, "opened", space)
        Study.open(store, "opened", space=space)
        for other in ({"dept": [None, 5], "x": Float(0, 1)}, {**space, "depth": [(1,), 5]}):
            with pytest.warns(UserWarning, match="exists with other parameters") as caught:
                Study.open(store, "opened", space=other)
            assert caught[0].filename == __file__


def test_loading_with_another_space_warns(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    space = {"depth": [None, 5], "x": Float(0, 1)}
    with Study(space) as study:
        study.save(path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Study.load(path, space={"depth": [None, 5], "x": Float(0.0, 1.0)}).close()
    for other in ({"dept": [None, 5], "x": Float(0, 1)}, {**space, "depth": [(1,), 5]}):
        with pytest.warns(UserWarning, match="s.json has other parameters than") as caught:
            Study.load(path, space=other).close()
        assert caught[0].filename == __file__


def test_reports_have_labels(door: Door) -> None:
    study = door({"layers": [(32,), (64, 32)], "x": Float(0, 1)})
    for value in range(3):
        study.tell(study.ask(), value)
    assert "(64, 32)" in study.html_report().html
    assert "(64, 32)" in study._repr_html_() or "(32,)" in study._repr_html_()


def test_an_object_comes_back_itself(door: Door) -> None:
    space = {"kernel": [SMOOTH, ROUGH, None], "x": Float(0, 1)}
    study = door(space)
    values = study.definition["parameters"][0]["values"]
    assert len(set(values)) == 3
    assert not any("0x" in v for v in values)  # an address differs in each process
    study.enqueue({"kernel": ROUGH, "x": 0.5})
    assert study.ask().params["kernel"] is ROUGH


def test_objects_in_containers_come_back_themselves(door: Door) -> None:
    study = door({"kernels": [[SMOOTH], ([ROUGH],), {"a": SMOOTH}], "x": Float(0, 1)})
    for kernels in ([SMOOTH], ([ROUGH],), {"a": SMOOTH}):
        study.enqueue({"kernels": kernels, "x": 0.5})
        params = study.ask().params
        assert same(params["kernels"], kernels)
        study.enqueue({**params, "x": 0.25})
        assert same(study.ask().params["kernels"], kernels)


def test_numbers_that_are_not_finite(door: Door) -> None:
    numpy = pytest.importorskip("numpy")
    study = door({"limit": [math.inf, math.nan, 1], "x": Float(0, 1)})
    for limit in (numpy.float64(math.inf), numpy.float64(math.nan), float("nan")):
        study.enqueue({"limit": limit, "x": 0.5})
        assert str(study.ask().params["limit"]) == str(float(limit))


def test_a_run_gets_objects(door: Door) -> None:
    seen = []

    def f(params: dict[str, Any], trial: Any) -> float:
        seen.append(params["layers"])
        assert trial.params["layers"] == params["layers"]
        if isinstance(params["layers"], list):
            params["layers"].append(1)  # the study has its own
        elif params["layers"]:
            params["layers"][1].append(1)
        return len(params["layers"]) + float(params["x"])

    space = {"layers": [(1, [2]), [3], ()], "depth": Fixed(None), "x": Float(0, 1)}
    result = door(space, budget=8).run(f)
    assert {type(s) for s in seen} == {tuple, list}
    assert result.best.params["layers"] == ()
    assert result.best.params["depth"] is None
    assert all(t.params["layers"] in [(1, [2]), [3], ()] for t in result.trials)
    assert {r["params"]["layers"] for r in result.records()} <= {"(1, [2])", "[3]", "()"}
    assert {r["params"]["depth"] for r in result.records()} == {"None"}


def test_data_frames_have_labels(door: Door) -> None:
    pandas = pytest.importorskip("pandas")
    study = door({"depth": [None, 5], "n": Int(1, 3, when="depth == 'None'")})
    study.enqueue({"depth": None, "n": 2})
    study.enqueue({"depth": 5})
    for trial in study.ask(2):
        study.tell(trial, 1)
    frame = study.dataframe()
    assert list(frame["depth"]) == ["None", 5]
    assert frame["n"].isna().tolist() == [False, True]
    with Study({"depth": [None, 5], "x": Fixed(1)}, earlier=frame[["depth", "value"]]) as later:
        assert [t.params["depth"] for t in later.trials] == [None, 5]
    numbers = pandas.DataFrame({"depth": [None, 5], "value": [1, 1]})  # None becomes NaN
    with Study({"depth": [None, 5], "x": Fixed(1)}, earlier=numbers) as later:
        assert [t.params["depth"] for t in later.trials] == [None, 5]


def test_options_take_objects(door: Door) -> None:
    layers, depth = [(32,), (64, 32)], [None, 5]
    space = {"layers": Categorical(layers), "depth": Categorical(depth), "x": Float(0, 1)}
    study = door(
        space,
        first=[{"layers": (64, 32), "depth": None, "x": 0.5}],
        earlier=[{"params": {"layers": (32,), "depth": None, "x": 0.1}, "value": 3}],
    )
    assert study.ask().params == {"layers": (64, 32), "depth": None, "x": 0.5}
    assert study.trials[0].params == {"layers": (32,), "depth": None, "x": 0.1}
    defaults = {"depth": None}
    late = [{"params": {"layers": (32,), "x": 0.2}, "value": 1}]
    with Study(space, defaults=defaults, earlier=late) as memory:
        assert memory.trials[0].params["depth"] is None


def test_conditions_have_labels(door: Door) -> None:
    space = {
        "layers": [(32,), (64, 32)],
        "dropout": Float(0, 0.5, when="layers == '(64, 32)'"),
    }
    study = door(space)
    study.enqueue({"layers": (64, 32), "dropout": 0.25})
    study.enqueue({"layers": (32,)})
    assert [t.params for t in study.ask(2)] == [
        {"layers": (64, 32), "dropout": 0.25},
        {"layers": (32,)},
    ]


def test_trials_move_and_are_added() -> None:
    with Study({"depth": [None, 5], "x": Float(0, 1)}) as study:
        assert study.add({"depth": None, "x": 0.5}, 1).params["depth"] is None
        assert study.ask(given={"depth": None}).params["depth"] is None


def test_a_stored_trial_moves_to_an_object(tmp_path: Path) -> None:
    study = Study.create(tmp_path / "bo.db", "s", {"depth": [None, 5], "x": Float(0, 1)})
    study.enqueue({"depth": 5, "x": 0.5})
    study.enqueue({"depth": 5, "x": 0.5})
    assert study.tell(study.ask(), 1, at={"depth": None}).params["depth"] is None
    assert study.fail(study.ask(), "hot", at={"depth": None}).params["depth"] is None


def test_pickled_studies_have_objects(door: Door) -> None:
    study = door({"depth": [None, 5], "x": Float(0, 1)})
    study.enqueue({"depth": None, "x": 0.5})
    copy = pickle.loads(pickle.dumps(study))
    assert copy.ask().params["depth"] is None


def is_text(params: dict[str, Any]) -> float:
    """An objective for other processes."""
    return float(isinstance(params["depth"], str))


def test_processes_get_objects(door: Door) -> None:
    study = door({"depth": [None, (1,)], "x": Float(0, 1)}, budget=2)
    with ProcessPoolExecutor(1) as executor:
        assert [t.value for t in study.run(is_text, executor=executor).trials] == [0, 0]


@pytest.mark.parametrize(
    ("choices", "fault"),
    [
        ([None, "None"], "the choices None and 'None' have one label"),
        (["None", None], "the choices None and 'None' have one label"),
        ([(1,), "(1,)"], "the choices (1,) and '(1,)' have one label"),
        ([math.inf, "inf"], "the choices inf and 'inf' have one label"),
        ([None, None], 'value "None" occurs twice'),
        ([(1, 2), (1, 2)], 'value "(1, 2)" occurs twice'),
        ([None], "has only the value None: use Fixed(None) for a constant"),
        ([[1]], "has only the value [1]: use Fixed([1]) for a constant"),
        ([Float(0, 1), Int(1, 3)], "a choice is Float(min=0, max=1, log="),
        ([{"lr": Float(0, 1)}, {}], "a choice is {'lr': Float(min=0, max=1, log="),
    ],
)
def test_faults_of_choices(choices: list[Any], fault: str) -> None:
    with pytest.raises(StudyError) as caught:
        Study({"p": choices})
    assert 'parameter "p"' in str(caught.value)
    assert fault in str(caught.value)
    assert "\n" not in str(caught.value)


def test_objects_that_are_no_choice(door: Door) -> None:
    study = door({"layers": [(32,), None], "x": Float(0, 1)})
    calls = [study.enqueue, lambda p: study.ask(given=p), lambda p: study.recommend(given=p)]
    for value in ((3, 3), [32], object(), {}, math.nan):
        for call in [*calls, lambda p: study.predict([p])]:
            with pytest.raises(RequestError) as caught:
                call({"layers": value, "x": 0.5})
            assert 'parameter "layers" is ' in str(caught.value)
            assert "want one of (32,), None" in str(caught.value)
    assert study.trials == []


@pytest.mark.parametrize("value", [(3, 3), [32], object(), None, math.nan])
def test_options_with_objects_that_are_no_choice(value: Any) -> None:
    space = {"layers": [(32,), (64, 32)], "x": Float(0, 1)}
    point = {"layers": value, "x": 0.5}
    options: dict[str, Any] = {
        "first: point 2": {"first": [{"x": 0.1}, point]},
        "earlier: evaluation 1": {"earlier": [{"params": point, "value": 1}]},
        "defaults": {"defaults": {"layers": value}},
    }
    for place, option in options.items():
        with pytest.raises(StudyError) as caught:
            Study(space, **option)
        assert str(caught.value).startswith(f'{place}: parameter "layers" is ')
        assert str(caught.value).endswith("want one of (32,), (64, 32)")


def test_an_inactive_choice_may_be_none() -> None:
    space = {"x": Float(0, 1), "c": Categorical([(1,), (2,)], when="x > 0.5")}
    earlier = [{"params": {"x": 0.2, "c": None}, "value": 1}]
    with Study(space, first=[{"x": 0.1, "c": None}], earlier=earlier) as study:
        assert [t.params["x"] for t in study.trials] == [0.2]
        assert study.ask().params == {"x": 0.1}
        study.enqueue({"x": 0.3, "c": None})
        assert study.ask().params == {"x": 0.3}


def test_a_label_is_its_object(door: Door) -> None:
    study = door({"layers": [(32,), None], "x": Float(0, 1)})
    study.enqueue({"layers": "(32,)", "x": 0.5})
    assert study.ask().params["layers"] == (32,)


def test_minimize() -> None:
    space = {"depth": [None, 5, 10], "layers": [(32,), (64, 32)]}
    result = minimize(
        lambda p: (p["depth"] or 7) + sum(p["layers"]), space, budget=6, noise_free=True
    )
    assert result.best.params == {"depth": 5, "layers": (32,)}
    assert result.recommendation is not None
    assert result.recommendation.model.trial.params == {"depth": 5, "layers": (32,)}
    assert "'depth': 5" in repr(result)
    assert "(32,)" in result._repr_html_()
