from __future__ import annotations

import itertools
import logging
import math
import multiprocessing
import os
import pickle
import signal
import statistics
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

optuna = pytest.importorskip("optuna", minversion="5.0")

from optuna.distributions import (  # noqa: E402
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)
from optuna.samplers import PartialFixedSampler, RandomSampler  # noqa: E402
from optuna.testing.pytest_samplers import (  # noqa: E402
    BasicSamplerTestCase,
    MultiObjectiveSamplerTestCase,
    RelativeSamplerTestCase,
)
from optuna.trial import TrialState  # noqa: E402

from functionspace_bo import Categorical, Float, Study, StudyError  # noqa: E402
from functionspace_bo import _distributions as dist  # noqa: E402
from functionspace_bo._binary import find_binary  # noqa: E402
from functionspace_bo._conditions import Condition, Part, divide  # noqa: E402
from functionspace_bo.optuna import FunctionSpaceSampler  # noqa: E402

HUB = Path(__file__).resolve().parents[1] / "hub" / "package"

optuna.logging.set_verbosity(optuna.logging.ERROR)

pytestmark = pytest.mark.filterwarnings("ignore::optuna.exceptions.ExperimentalWarning")


class TestFunctionSpaceSampler(
    BasicSamplerTestCase,
    RelativeSamplerTestCase,
    MultiObjectiveSamplerTestCase,
):
    """The tests for samplers that Optuna ships."""

    @pytest.fixture
    def sampler(self) -> Callable[[], FunctionSpaceSampler]:
        return FunctionSpaceSampler


def mixed(trial: Any) -> float:
    x = trial.suggest_float("x", -5, 5)
    rate = trial.suggest_float("learning rate", 1e-5, 1, log=True)
    n = trial.suggest_int("n", 1, 9, step=2)
    kind = trial.suggest_categorical("kind", ["a", None, 3])
    trial.suggest_int("one", 4, 4)
    return float((x - 1) ** 2 + math.log10(rate / 1e-2) ** 2 + abs(n - 5) + (kind is not None))


def study_of(**options: Any) -> Any:
    sampler = FunctionSpaceSampler(**{"seed": 1, **options})
    return optuna.create_study(sampler=sampler)


def asked(study: Any, monkeypatch: pytest.MonkeyPatch) -> list[list[dict[str, Any]]]:
    """Returns the list to which the histories of later requests are added."""
    seen: list[list[dict[str, Any]]] = []
    ask = study.sampler._suggester.ask

    def record(
        name: str, definition: dict[str, Any], trials: list[dict[str, Any]], *given: Any
    ) -> Any:
        seen.append(trials)
        return ask(name, definition, trials, *given)

    monkeypatch.setattr(study.sampler._suggester, "ask", record)
    return seen


def test_minimum_and_maximum() -> None:
    low = study_of()
    low.optimize(mixed, n_trials=40)
    assert low.best_value < 0.3
    high = optuna.create_study(direction="maximize", sampler=FunctionSpaceSampler(seed=1))
    high.optimize(lambda t: -mixed(t), n_trials=40)
    # Equal seeds and opposite goals evaluate the same points.
    assert [t.params for t in high.trials] == [t.params for t in low.trials]


def test_seed() -> None:
    def points(seed: int | None) -> list[dict[str, Any]]:
        study = study_of(seed=seed)
        study.optimize(mixed, n_trials=12)
        return [t.params for t in study.trials]

    assert points(3) == points(3)
    assert points(3) != points(4)
    assert points(None) != points(None)


def test_reseed() -> None:
    study = study_of()
    study.optimize(mixed, n_trials=3)
    space = study.sampler.infer_relative_search_space(study, None)

    def sample() -> Any:
        return study.sampler.sample_relative(study, new_trial(study), space)

    first = sample()
    study.sampler.reseed_rng()
    assert sample() != first


def new_trial(study: Any) -> Any:
    return study._storage.get_trial(study._storage.create_new_trial(study._study_id))


def test_initial_design(monkeypatch: pytest.MonkeyPatch) -> None:
    study = study_of(n_startup_trials=5)
    answers: list[Any] = []
    ask = study.sampler._suggester._process.ask

    def record(request: dict[str, Any]) -> Any:
        answers.append(ask(request))
        return answers[-1]

    monkeypatch.setattr(study.sampler._suggester._process, "ask", record)
    study.optimize(mixed, n_trials=8)
    sources = [a["points"][0]["source"] for a in answers]
    assert sources == ["design"] * 4 + ["suggested"] * 3  # the first trial is independent


class Independent(RandomSampler):
    """Counts the parameters that it samples."""

    def __init__(self) -> None:
        super().__init__(seed=1)
        self.names: list[str] = []

    def sample_independent(self, study: Any, trial: Any, name: str, distribution: Any) -> Any:
        self.names.append(name)
        return super().sample_independent(study, trial, name, distribution)


def branches(trial: Any) -> float:
    if trial.suggest_categorical("kind of model", ["tree", "net"]) == "tree":
        return float((trial.suggest_int("depth", 1, 30) - 17) ** 2 / 100 + 1)
    layers = trial.suggest_int("layers", 1, 3)
    return sum(float((trial.suggest_float(f"rate{i}", 0, 1) - 0.3) ** 2) for i in range(layers))


def test_conditional_parameters(caplog: pytest.LogCaptureFixture) -> None:
    study = study_of(independent_sampler=Independent())
    optuna.logging.enable_propagation()
    caplog.set_level(logging.WARNING, "optuna.functionspace_bo")
    study.optimize(branches, n_trials=40)
    space = study.sampler.infer_relative_search_space(study, None)
    assert set(space) == {"kind of model", "depth", "layers", "rate0", "rate1", "rate2"}
    (part,) = divide(study.trials)
    assert {name: (c.control, c.values) for name, c in part.conditions.items()} == {
        "depth": ("kind of model", ("0",)),
        "layers": ("kind of model", ("1",)),
        "rate0": ("kind of model", ("1",)),
        "rate1": ("layers", (1, 2)),
        "rate2": ("layers", (2,)),
    }
    assert study.best_value < 1e-3
    assert len(study.sampler._independent_sampler.names) <= 15  # until the conditions are found
    assert not [r for r in caplog.records if "is sampled by" in r.message]


def test_enqueued_branches() -> None:
    study = study_of(independent_sampler=Independent())
    study.optimize(branches, n_trials=20)
    names = study.sampler._independent_sampler.names
    names.clear()
    for kind in ("tree", "net", "tree"):
        study.enqueue_trial({"kind of model": kind})
    study.optimize(branches, n_trials=3)
    assert not names  # parameters of both branches are sampled, as the branch is not suggested
    sampler = study.sampler
    study.sampler = PartialFixedSampler({"kind of model": "net"}, sampler)
    study.optimize(branches, n_trials=3)
    assert not names
    assert all(t.params["kind of model"] == "net" for t in study.trials[-3:])


def test_suggestions_for_enqueued_values() -> None:
    def objective(trial: Any) -> float:
        n = trial.suggest_int("n", 0, 4)
        return float((trial.suggest_float("x", 0, 1) - n / 4) ** 2 + n / 10)

    for options in ({}, {"acquisition": "mes"}):  # which is for the whole space
        study = study_of(**options)
        study.optimize(objective, n_trials=20)
        assert study.best_params["n"] == 0
        for _ in range(3):
            study.enqueue_trial({"n": 4})
        study.optimize(objective, n_trials=3)
        assert all(t.params["n"] == 4 for t in study.trials[-3:])
        if not options:
            assert max(t.params["x"] for t in study.trials[-3:]) > 0.75
            study.sampler = PartialFixedSampler({"n": 2}, study.sampler)
            study.optimize(objective, n_trials=3)
            assert min(abs(t.params["x"] - 0.5) for t in study.trials[-3:]) < 0.1


def test_enqueued_values_of_a_branch(monkeypatch: pytest.MonkeyPatch) -> None:
    study = study_of(independent_sampler=Independent())
    study.optimize(branches, n_trials=40)
    study.sampler._independent_sampler.names.clear()
    study.enqueue_trial({"rate2": 0.25})
    study.enqueue_trial({"rate2": 0.25, "depth": 3})
    study.enqueue_trial({"kind of model": "tree", "rate2": 0.25})
    study.enqueue_trial({"kind of model": "net", "layers": 1, "rate1": 0.5, "depth": 4})
    study.optimize(branches, n_trials=4)
    of_branch, both, tree, net = (t.params for t in study.trials[-4:])
    assert (of_branch["kind of model"], of_branch["layers"], of_branch["rate2"]) == ("net", 3, 0.25)
    assert both.get("depth", 3) == 3
    assert both.get("rate2", 0.25) == 0.25
    assert tree.keys() == {"kind of model", "depth"}
    assert net.keys() == {"kind of model", "layers", "rate0"}
    assert not study.sampler._independent_sampler.names

    seen = asked(study, monkeypatch)
    study.enqueue_trial({"kind of model": "tree", "rate2": 0.25, "depth": 9})
    study.optimize(branches, n_trials=1)
    assert study.trials[-1].params == {"kind of model": "tree", "depth": 9}
    assert not seen  # no active parameter is left


@pytest.mark.parametrize(
    ("params", "given"),
    [
        ({"kind": "net", "depth": 3}, {"kind": "1"}),
        ({"layers": 3, "depth": 3}, {"depth": 2}),
        ({"depth": 3, "rate": 0.5}, {"depth": 2}),
        ({"rate": 0.5}, {"rate": 0.5}),
        ({"layers": 2, "rate": 0.5}, {"layers": 1}),
        ({"kind": "net", "layers": 9, "rate": 0.5}, {"kind": "1", "rate": 0.5}),
    ],
)
def test_given_values_are_possible_together(params: dict[str, Any], given: Any) -> None:
    part = Part(
        {
            "kind": CategoricalDistribution(["tree", "net"]),
            "depth": IntDistribution(1, 30),
            "layers": IntDistribution(1, 3),
            "rate": FloatDistribution(0, 1),
        },
        {
            "depth": Condition("kind", ("0",)),
            "layers": Condition("kind", ("1",)),
            "rate": Condition("layers", (2,)),
        },
    )
    assert part.given(params) == given


unit = FloatDistribution(0, 1)
kinds = CategoricalDistribution(["a", "b", "c"])
counts = IntDistribution(1, 5)


def row(state: Any = TrialState.COMPLETE, **params: Any) -> Any:
    """Returns a trial; k is a kind, n is a count, and other parameters are in [0, 1]."""
    distributions: dict[str, Any] = {"k": kinds, "n": counts}
    return optuna.create_trial(
        state=state,
        params=params,
        distributions={name: distributions.get(name, unit) for name in params},
        value=1.0 if state == TrialState.COMPLETE else None,
    )


@pytest.mark.parametrize(
    ("trials", "conditions", "others"),
    [
        ([row(x=0.5)], {}, []),
        # Categories without trials do not have the parameter.
        ([row(k="a", x=0), row(k="b")], {"x": ("k", ("0",))}, []),
        ([row(k="a", x=0), row(k="b"), row(k="c", x=1)], {"x": ("k", ("0", "2"))}, []),
        # Larger counts, or smaller ones, have it too. In requests counts start at zero.
        ([row(n=1), row(n=3, x=0)], {"x": ("n", (2, 3, 4))}, []),
        ([row(n=4), row(n=2, x=0)], {"x": ("n", (0, 1))}, []),
        ([row(n=1), row(n=3, x=0), row(n=5)], {}, [{"x"}]),
        # Trials of one value have it and lack it.
        ([row(k="a", x=0), row(k="a")], {}, [{"x"}]),
        # Two parameters explain it.
        ([row(k="a", n=1, x=0), row(k="b", n=2)], {}, [{"x"}]),
        ([row(k="a", n=1, x=0), row(k="b", n=2), row(k="b", n=1)], {"x": ("k", ("0",))}, []),
        # A condition on a parameter with a condition.
        (
            [row(k="a", n=1), row(k="a", n=2, x=0), row(k="b")],
            {"n": ("k", ("0",)), "x": ("n", (1, 2, 3, 4))},
            [],
        ),
        # Other trials than complete ones infer nothing, and their own parameters are groups.
        ([row(k="a", x=0), row(TrialState.PRUNED, k="b", y=1)], {}, [{"y"}]),
        ([row(k="a", x=0), row(TrialState.FAIL, k="b")], {}, []),
        ([row(TrialState.PRUNED, k="a", x=0), row(TrialState.PRUNED, k="b")], {}, [{"x"}]),
        # Values at which other trials have the parameter are in its condition.
        (
            [row(k="a", x=0), row(k="b"), row(TrialState.FAIL, k="c", x=1)],
            {"x": ("k", ("0", "2"))},
            [],
        ),
        ([row(k="a", x=0), row(k="b"), row(TrialState.PRUNED, k="b", x=1)], {}, [{"x"}]),
    ],
)
def test_conditions(trials: Any, conditions: Any, others: Any) -> None:
    first, *rest = divide(trials)
    found = {name: (c.control, c.values) for name, c in first.conditions.items()}
    assert found == conditions
    assert list(found) == list(first.distributions)[-len(found) :] or not found
    assert [set(part.distributions) for part in rest] == others


def test_conditions_on_other_controls() -> None:
    trials = [row(k="a", n=1), row(k="a", n=2, x=0), row(k="b")]
    assert [set(p.distributions) for p in divide(trials, ["n", "x"])] == [{"k"}, {"n"}, {"x"}]


def test_values_of_inactive_parameters() -> None:
    (part,) = divide([row(k="a", x=0.5), row(k="b", y=0.5)])
    assert part.request({"k": "a", "x": 0.25, "y": 0.75}) == {"k": "0", "x": 0.25}
    assert part.request({"k": "b", "x": 0.25}) is None
    assert part.request({"x": 0.25}) is None


@pytest.mark.parametrize("error", [ValueError, optuna.TrialPruned])
def test_branch_that_ends_before_its_parameters(error: type[Exception]) -> None:
    def objective(trial: Any) -> float:
        kind = trial.suggest_categorical("kind", ["tree", "net", "svc"])
        trial.report(1, 0)
        if kind == "net":
            raise error
        return float(trial.suggest_float(kind, 0, 1) + trial.suggest_float("rate", 0, 1))

    study = study_of()
    study.optimize(objective, n_trials=25, catch=ValueError)
    assert sum(t.params["kind"] == "net" for t in study.trials) <= 8
    assert study.best_value < 0.05


def test_without_groups_unknown_parameters_are_independent() -> None:
    def objective(trial: Any) -> float:
        if trial.suggest_categorical("model", ["tree", "net"]) == "tree":
            return float(trial.suggest_int("depth", 1, 30))
        return float(trial.suggest_float("rate", 0, 1))

    study = study_of(group=False)
    study.optimize(objective, n_trials=12)
    assert set(study.sampler.infer_relative_search_space(study, None)) == {"model"}


def test_groups() -> None:
    unit = FloatDistribution(0, 1)
    wide = FloatDistribution(0, 9)

    def trial(names: str, state: Any = TrialState.COMPLETE, d: Any = unit) -> Any:
        value = 1.0 if state == TrialState.COMPLETE else None
        return optuna.create_trial(
            state=state,
            params=dict.fromkeys(names, 0.5),
            distributions=dict.fromkeys(names, d),
            value=value,
        )

    pruned = TrialState.PRUNED
    failed = TrialState.FAIL
    assert dist.groups([]) == []
    assert [set(g) for g in dist.groups([trial("abc"), trial("ab"), trial("ad")])] == [
        {"a"},
        {"b"},
        {"c"},
        {"d"},
    ]
    assert [
        set(g) for g in dist.groups([trial("abc"), trial("a", pruned), trial("b", failed)])
    ] == [{"a", "b", "c"}]
    assert [set(g) for g in dist.groups([trial("ab"), trial("acd", pruned)])] == [
        {"a", "b"},
        {"c", "d"},
    ]
    assert dist.groups([trial("a"), trial("a", d=wide)]) == [{"a": wide}]


def test_history_of_all_states(monkeypatch: pytest.MonkeyPatch) -> None:
    study = study_of()
    unit = {"x": FloatDistribution(0, 1)}

    def add(x: float, state: Any = TrialState.COMPLETE, **options: Any) -> None:
        study.add_trial(
            optuna.create_trial(state=state, params={"x": x}, distributions=unit, **options)
        )

    for i, value in enumerate([1.0, 2.0, 6.0, math.inf, -math.inf]):
        add(i / 10, value=value)
    add(0.5, TrialState.FAIL)
    for i, last in enumerate([0.5, 3.0, 99.0, math.nan]):
        steps = {0: 50.0, 7: last, 3: 40.0}
        add((6 + i) / 10, TrialState.PRUNED, intermediate_values=steps)
    add(0.95, TrialState.PRUNED)
    add(0.96, value=0.0, system_attrs={"constraints:c": 1.0})
    add(0.97, value=4.0, system_attrs={"constraints:c": -1.0})
    study.add_trial(
        optuna.create_trial(
            params={"x": 7.0}, distributions={"x": FloatDistribution(0, 9)}, value=1
        )
    )
    seen = asked(study, monkeypatch)
    study.sampler.sample_relative(study, new_trial(study), unit)
    states = [(t["params"]["x"], t["state"], t.get("value")) for t in seen[0]]
    assert states == [
        (0.0, "complete", 1.0),
        (0.1, "complete", 2.0),
        (0.2, "complete", 6.0),
        (0.3, "failed", None),
        (0.4, "complete", 1.0),  # the best finite value
        (0.5, "failed", None),
        (0.6, "complete", 2.0),  # not below the median
        (0.7, "complete", 3.0),
        (0.8, "complete", 6.0),  # not above the worst
        (0.9, "failed", None),
        (0.95, "failed", None),
        (0.96, "failed", None),
        (0.97, "complete", 4.0),
    ]


def test_history_of_measured_constraints(monkeypatch: pytest.MonkeyPatch) -> None:
    study = study_of()
    unit = {"x": FloatDistribution(0, 1)}
    for x, attributes in (
        (0.1, {"constraints:b": 1.0, "constraints:a": -2.0}),
        (0.2, {"constraints:b": math.inf, "constraints:a": 0.0}),
    ):
        study.add_trial(
            optuna.create_trial(
                params={"x": x}, distributions=unit, value=x, system_attrs=attributes
            )
        )
    seen = asked(study, monkeypatch)
    study.sampler.sample_relative(study, new_trial(study), unit)
    assert seen[0] == [
        {
            "params": {"x": 0.1},
            "state": "complete",
            "value": 0.1,
            "numbers": {"c0": -2.0, "c1": 1.0},
        },
        {"params": {"x": 0.2}, "state": "failed"},
    ]


def test_running_trials_are_pending_in_other_samplers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = f"sqlite:///{tmp_path / 'optuna.db'}"
    one = optuna.create_study(storage=storage, study_name="s", sampler=FunctionSpaceSampler(seed=1))
    one.optimize(mixed, n_trials=4)
    trial = one.ask()
    trial.suggest_float("x", -5, 5)  # all relative parameters are stored at the first
    other = optuna.load_study(storage=storage, study_name="s", sampler=FunctionSpaceSampler(seed=1))
    seen = asked(other, monkeypatch)
    mixed(other.ask())
    pending = [t["params"] for t in seen[0] if t["state"] == "pending"]
    value = mixed(trial)
    assert pending == [
        Part({n: d for n, d in sorted(trial.distributions.items()) if n != "one"}).request(
            trial.params
        )
    ]
    one.tell(trial, value)
    mixed(other.ask())
    assert [t["state"] for t in seen[1]].count("pending") == 1  # other's own first trial


def test_study_in_a_database_resumes(tmp_path: Path) -> None:
    storage = f"sqlite:///{tmp_path / 'optuna.db'}"
    for _ in range(2):
        study = optuna.create_study(
            storage=storage,
            study_name="s",
            load_if_exists=True,
            sampler=FunctionSpaceSampler(seed=1),
        )
        study.optimize(mixed, n_trials=9)
    assert len(study.trials) == 18
    assert study.trials[9].params != study.trials[0].params


def test_many_parameters_in_a_database(tmp_path: Path) -> None:
    study = optuna.create_study(
        storage=f"sqlite:///{tmp_path / 'optuna.db'}", sampler=FunctionSpaceSampler(seed=1)
    )
    space = {f"a parameter with a long name {i}" * 3: FloatDistribution(0, 1) for i in range(40)}
    for _ in range(2):
        study.tell(study.ask(space), 1.0)
    trial = study.ask(space)
    attributes = study.trials[trial.number].system_attrs
    stored = [v for k, v in attributes.items() if k.startswith("functionspace_bo")]
    assert len(stored) > 1
    assert max(map(len, stored)) <= 2000


@pytest.mark.parametrize(
    ("distribution", "values"),
    [
        (FloatDistribution(-1, 1), [-1.0, 0.25, 1.0]),
        (FloatDistribution(1e-7, 1, log=True), [1e-7, 0.1, 1.0]),
        (FloatDistribution(-10.2, 10.2, step=0.1), [-10.2, 0.3, 10.2]),
        (FloatDistribution(0, 0.9, step=0.3), [0.0, 0.6, 0.9]),
        (IntDistribution(-3, 9), [-3, 0, 9]),
        (IntDistribution(2, 8, step=3), [2, 5, 8]),
        (IntDistribution(1, 1000, log=True), [1, 37, 1000]),
        (IntDistribution(2**60, 2**60 + 8), [2**60, 2**60 + 3]),
        (CategoricalDistribution([None, True, 3, 2.5, "x"]), [None, True, 3, 2.5, "x"]),
        (CategoricalDistribution(["", "0", "None"]), ["", "0", "None"]),
    ],
)
def test_values_survive_encoding(distribution: Any, values: list[Any]) -> None:
    p = dist.parameter(distribution)
    for value in values:
        back = dist.decode(distribution, p.decode(dist.encode(distribution, value)))
        assert type(back) is type(value)
        assert back == pytest.approx(value) if isinstance(value, float) else back == value


@pytest.mark.parametrize(
    ("choices", "distinct"),
    [
        (["sqrt", 1, 1.0], ["0", "1"]),
        ([0, False, "x"], ["0", "2"]),
        ([True, 1, 1.0, math.nan], ["0", "3"]),
        (["a", "b"], ["0", "1"]),
    ],
)
def test_choices_that_are_equal_in_python(choices: list[Any], distinct: list[str]) -> None:
    # Optuna stores the index of the first of equal choices.
    p = dist.parameter(CategoricalDistribution(choices))
    assert p.definition() == {"type": "categorical", "values": distinct}


def test_equal_choices_do_not_repeat_points() -> None:
    def objective(trial: Any) -> float:
        trial.suggest_categorical("one", [1, 1.0])
        points.append((trial.suggest_int("n", 0, 4), trial.suggest_categorical("m", [1, 1.0, "x"])))
        return float(points[-1][0] + (points[-1][1] == "x"))

    points: list[tuple[int, Any]] = []
    study = study_of(deterministic_objective=True)
    study.optimize(objective, n_trials=10)
    assert len(set(points)) == 10
    assert not dist.searchable(CategoricalDistribution([1, 1.0]))


def test_values_outside_of_a_distribution() -> None:
    for d, value in [
        (FloatDistribution(0, 1), 2.0),
        (FloatDistribution(0, 1, step=0.5), 0.3),
        (IntDistribution(0, 8, step=2), 3),
        (CategoricalDistribution(["a"]), "b"),
        (FloatDistribution(0, 1), "a"),
    ]:
        assert dist.encode(d, value) is None


def test_distributions_beyond_the_limits_are_independent() -> None:
    def objective(trial: Any) -> float:
        trial.suggest_int("long", 0, 2**62)
        return float(trial.suggest_float("x", 0, 1))

    study = study_of(warn_independent_sampling=False)
    study.optimize(objective, n_trials=6)
    assert set(study.sampler.infer_relative_search_space(study, None)) == {"x"}
    assert dist.obstacle(FloatDistribution(-1e308, 1e308)) == "a range of infinite width"
    assert not dist.searchable(FloatDistribution(1e-310, 1, log=True))


@pytest.mark.parametrize(
    ("distribution", "reason"),
    [
        (IntDistribution(0, 2**53), "2^50 steps or more"),
        (IntDistribution(1, 2**41, log=True), "an upper bound above 2^40"),
        (FloatDistribution(1e-310, 1, log=True), "a lower bound below 2^-1022"),
        (CategoricalDistribution([1, True]), "equal choices alone"),
    ],
)
def test_reason_for_independent_sampling(
    distribution: Any, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    study = study_of()
    optuna.logging.enable_propagation()
    caplog.set_level(logging.WARNING, "optuna.functionspace_bo")
    for _ in range(2):
        study.tell(study.ask({"x": FloatDistribution(0, 1), "p": distribution}), 1.0)
    messages = [r.message for r in caplog.records if "is sampled by" in r.message]
    assert messages == [
        f"Trial 1: parameter 'p' is sampled by RandomSampler, because it has {reason}. "
        "warn_independent_sampling=False suppresses this warning."
    ]


def test_fixed_parameters(monkeypatch: pytest.MonkeyPatch) -> None:
    study = study_of()
    study.optimize(mixed, n_trials=3)
    seen = asked(study, monkeypatch)
    every = {"x": 1.0, "learning rate": 0.1, "n": 5, "kind": None}
    study.enqueue_trial(every)
    study.enqueue_trial({"x": 2.0})
    study.optimize(mixed, n_trials=2)
    assert study.trials[3].params.items() >= every.items()
    assert study.trials[4].params["x"] == 2.0
    assert len(seen) == 1  # the first enqueued trial needs no suggestion
    study.sampler = PartialFixedSampler({"n": 7}, study.sampler)
    study.optimize(mixed, n_trials=2)
    assert [t.params["n"] for t in study.trials[5:]] == [7, 7]


def test_jobs() -> None:
    study = study_of()
    threads = threading.active_count()
    study.optimize(mixed, n_trials=20, n_jobs=4)
    assert len({tuple(t.params.items()) for t in study.trials}) == 20
    assert all(t.state == TrialState.COMPLETE for t in study.trials)
    assert threading.active_count() <= threads + 4


def test_finite_space() -> None:
    def objective(trial: Any) -> float:
        return float(trial.suggest_int("x", 0, 3) + trial.suggest_categorical("y", [0, 1]))

    study = study_of(deterministic_objective=True)
    study.optimize(objective, n_trials=11)
    points = [(t.params["x"], t.params["y"]) for t in study.trials]
    assert len(set(points[:8])) == 8  # no repetition before all are evaluated
    assert len(points) == 11


def test_process_is_replaced() -> None:
    study = study_of()
    study.optimize(mixed, n_trials=3)
    process = study.sampler._suggester._process._running._process
    os.kill(process.pid, signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL)
    process.wait()
    study.optimize(mixed, n_trials=2)
    study.sampler.close()
    study.optimize(mixed, n_trials=1)
    assert all(t.state == TrialState.COMPLETE for t in study.trials)


def test_pickle() -> None:
    study = study_of()
    study.optimize(mixed, n_trials=12)
    other = pickle.loads(pickle.dumps(study))
    for s in (study, other):
        s.optimize(mixed, n_trials=3)
    assert [t.params for t in study.trials] == [t.params for t in other.trials]


def draws(sampler: FunctionSpaceSampler) -> tuple[int, float]:
    """Returns the seed, and a number of the independent sampler."""
    study = optuna.create_study(sampler=sampler)
    return sampler._seed, study.ask().suggest_float("x", 0, 1)


@pytest.mark.parametrize("seed", [None, 3])
def test_pickled_samplers_without_a_seed_differ(seed: int | None) -> None:
    text = pickle.dumps(FunctionSpaceSampler(seed=seed))
    one, other = draws(pickle.loads(text)), draws(pickle.loads(text))
    for a, b in zip(one, other, strict=True):
        assert (a != b) == (seed is None)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.parametrize("seed", [None, 3])
def test_forked_samplers_without_a_seed_differ(seed: int | None) -> None:
    sampler = FunctionSpaceSampler(seed=seed)
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    processes = [
        context.Process(target=lambda: queue.put(draws(sampler)), daemon=True) for _ in range(2)
    ]
    for process in processes:
        process.start()
    one, other = queue.get(), queue.get()
    for process in processes:
        process.join()
    for a, b in zip(one, other, strict=True):
        assert (a != b) == (seed is None)


def test_independent_sampler_of_the_user_is_not_reseeded() -> None:
    sampler = FunctionSpaceSampler(independent_sampler=RandomSampler(seed=7))
    text = pickle.dumps(sampler)
    assert draws(pickle.loads(text))[1] == draws(pickle.loads(text))[1]


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_several_objectives(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    targets = [i / (n - 1) for i in range(n)]

    def objective(trial: Any) -> tuple[float, ...]:
        x, y = trial.suggest_float("x", 0, 1), trial.suggest_float("y", 0, 1)
        losses = [(x - target) ** 2 + y for target in targets]
        return (*losses[:-1], -losses[-1])

    directions = ["minimize"] * (n - 1) + ["maximize"]
    study = optuna.create_study(directions=directions, sampler=FunctionSpaceSampler(seed=1))
    seen = asked(study, monkeypatch)
    study.optimize(objective, n_trials=20)
    assert list(seen[-1][0]["numbers"]) == [f"o{i}" for i in range(n)]
    assert seen[-1][0]["numbers"][f"o{n - 1}"] == study.trials[0].values[-1]
    front = [t.params for t in study.best_trials]
    # The front is y = 0; random points have a mean of 0.5.
    assert sum(p["y"] < 0.05 for p in front) >= 6
    if n < 4:  # with more objectives, 20 trials do not reach the ends of the front
        assert max(p["x"] for p in front) - min(p["x"] for p in front) > 0.5


def test_several_objectives_with_infinite_values_and_constraints(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    study = optuna.create_study(
        directions=["minimize", "maximize"], sampler=FunctionSpaceSampler(seed=1)
    )
    unit = {"x": FloatDistribution(0, 1)}
    for i, values in enumerate([[1.0, 2.0], [-math.inf, 3.0], [0.5, math.inf], [math.inf, 4.0]]):
        study.add_trial(
            optuna.create_trial(
                params={"x": i / 4},
                distributions=unit,
                values=values,
                system_attrs={"constraints:a": -1.0},
            )
        )
    seen = asked(study, monkeypatch)
    study.sampler.sample_relative(study, new_trial(study), unit)
    assert [t.get("numbers") for t in seen[0]] == [
        {"o0": 1.0, "o1": 2.0, "c0": -1.0},
        {"o0": 0.5, "o1": 3.0, "c0": -1.0},
        {"o0": 0.5, "o1": 4.0, "c0": -1.0},
        None,
    ]


def test_too_many_objectives() -> None:
    study = optuna.create_study(directions=["minimize"] * 21, sampler=FunctionSpaceSampler())
    with pytest.raises(ValueError, match="21 objectives: FunctionSpaceSampler is for at most 20"):
        study.optimize(lambda t: [t.suggest_float("x", 0, 1)] * 21, n_trials=1)


def test_only_changes_are_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    study, whole = study_of(), study_of()
    requests: list[dict[str, Any]] = []
    exchange = study.sampler._suggester._process.ask

    def record(request: dict[str, Any]) -> Any:
        requests.append(request)
        return exchange(request)

    monkeypatch.setattr(study.sampler._suggester._process, "ask", record)
    monkeypatch.setattr(whole.sampler._suggester, "_continue", lambda *_: None)
    for s in (study, whole):
        s.optimize(mixed, n_trials=14)
    assert [t.params for t in study.trials] == [t.params for t in whole.trials]
    assert "study" in requests[0]
    assert all("study" not in r and len(r["trials"]) == 1 for r in requests[1:])


def test_constraints_are_learned() -> None:
    def objective(trial: Any) -> float:
        x = trial.suggest_float("x", 0, 1)
        trial.set_constraint("above", 0.4 - x)
        return float(x)

    study = study_of()
    study.optimize(objective, n_trials=25)
    # The optimum is on the bound, so later trials lie on both sides of it, but close.
    assert min(t.params["x"] for t in study.trials[12:]) > 0.38
    assert 0.4 <= study.best_value < 0.41


def test_constraints_func() -> None:
    study = study_of(constraints_func=lambda t: (0.4 - t.params["x"],))
    study.optimize(lambda t: t.suggest_float("x", 0, 1), n_trials=3)
    assert all("0" in t.constraints for t in study.trials)


def test_options() -> None:
    study = study_of(kernel="matern32", acquisition="lcb", lengthscale=[0.2, 0.3])
    study.optimize(lambda t: t.suggest_float("x", 0, 1) + t.suggest_int("n", 1, 5), n_trials=9)
    with pytest.raises(StudyError, match="kernel"):
        FunctionSpaceSampler(kernel="nonsense")
    with pytest.raises(TypeError, match="budget"):
        FunctionSpaceSampler(budget=3)  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"noise_free": True}, TypeError, "noise_free is no option: use deterministic_objective"),
        ({"initial": 5}, TypeError, "initial is no option: use n_startup_trials"),
        ({"direction": "maximize"}, TypeError, "use direction of optuna.create_study"),
        ({"n_startup_trials": 0}, StudyError, "n_startup_trials is 0, want 1 to 10000"),
        ({"n_startup_trials": 1.5}, StudyError, "n_startup_trials must be a whole number, not 1.5"),
        ({"noise_sd": 0}, StudyError, "for an exact objective use deterministic_objective=True"),
        ({"noise_sd": [0.1, -1]}, StudyError, "is -1, want a positive number"),
        ({"noise_sd": "a"}, ValueError, "the noise_sd is 'a', want a number"),
        ({"noise_sd": 1, "deterministic_objective": True}, StudyError, "and determin"),
    ],
)
def test_hints_name_arguments_of_the_sampler(
    options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        FunctionSpaceSampler(**options)


def test_noise_that_is_known() -> None:
    def objective(trial: Any) -> float:
        return float((trial.suggest_float("x", 0, 1) - 0.3) ** 2)

    found = []
    for noise in (None, 1e-4, 2):
        study = study_of(noise_sd=noise)
        study.optimize(objective, n_trials=9)
        found.append(study.trials[-1].params["x"])
    assert len(set(found)) == 3
    study = optuna.create_study(
        directions=["minimize", "maximize"], sampler=FunctionSpaceSampler(seed=1, noise_sd=[0.1, 2])
    )
    study.optimize(lambda t: (objective(t), objective(t)), n_trials=7)
    with pytest.raises(ValueError, match="has 2 objectives, and noise_sd has 1 numbers"):
        optuna.create_study(
            directions=["minimize"] * 2, sampler=FunctionSpaceSampler(noise_sd=0.1)
        ).optimize(lambda t: (objective(t), objective(t)), n_trials=1)


def test_independent_sampler() -> None:
    study = study_of(independent_sampler=RandomSampler(seed=7))
    study.optimize(lambda t: t.suggest_float("x", 0, 1), n_trials=1)
    other = optuna.create_study(sampler=RandomSampler(seed=7))
    other.optimize(lambda t: t.suggest_float("x", 0, 1), n_trials=1)
    assert study.trials[0].params == other.trials[0].params


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_hyperband(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def objective(trial: Any) -> float:
        x, n = trial.suggest_float("x", 0, 1), trial.suggest_int("n", 1, 8)
        loss = (x - 0.3) ** 2 + (n - 3) ** 2 / 20
        for step in range(1, 28):
            trial.report(loss + 1 / step, step)
            if trial.should_prune():
                raise optuna.TrialPruned
        return float(loss)

    study = optuna.create_study(
        study_name="hyperband",  # the bracket of a trial depends on the name
        sampler=FunctionSpaceSampler(seed=seed),
        pruner=optuna.pruners.HyperbandPruner(1, 27, 3),
    )
    seen = asked(study, monkeypatch)
    study.optimize(objective, n_trials=40)
    assert {t.state for t in study.trials} == {TrialState.COMPLETE, TrialState.PRUNED}
    assert len({(t.params["x"], t.params["n"]) for t in study.trials}) == 40
    assert [len(trials) for trials in seen] == list(range(1, 40))  # all brackets
    complete = [t.value for t in study.trials if t.state == TrialState.COMPLETE]
    pruned = [
        told["value"]
        for told, t in zip(seen[-1], study.trials, strict=False)
        if t.state == TrialState.PRUNED
    ]
    assert statistics.median(complete) <= min(pruned)
    assert max(pruned) <= max(complete)


def test_package_for_optunahub() -> None:
    folder = HUB / "samplers" / "functionspace_bo"
    head = (folder / "README.md").read_text(encoding="utf-8").split("---\n")[1]
    keys = [line.partition(":")[0] for line in head.splitlines()]
    assert keys == ["author", "title", "description", "tags", "optuna_versions", "license"]
    assert "tags: [sampler," in head
    hub = pytest.importorskip("optunahub")
    module = hub.load_local_module(package="samplers/functionspace_bo", registry_root=str(HUB))
    assert module.FunctionSpaceSampler is FunctionSpaceSampler


def test_package_works_without_optuna() -> None:
    code = (
        "import sys; sys.modules['optuna'] = None\n"
        "import functionspace_bo\n"
        "try:\n    import functionspace_bo.optuna\n"
        "except ImportError as err:\n    print(err)\n"
    )
    source = str(Path(dist.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": source},
    )
    assert "needs Optuna 5 or later: pip install 'optuna>=5'" in done.stdout


def test_earlier_versions_of_optuna() -> None:
    code = (
        "import optuna; optuna.__version__ = '4.5.0'\n"
        "try:\n    import functionspace_bo.optuna\n"
        "except ImportError as err:\n    print(err)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(Path(dist.__file__).parents[1])},
    )
    assert "needs Optuna 5 or later, and this is Optuna 4.5.0: pip install" in done.stdout


def test_parameters_named_as_constraints() -> None:
    sampler = FunctionSpaceSampler(seed=1, constraints_func=lambda t: (t.params["c0"] - 0.5,))
    study = optuna.create_study(sampler=sampler)
    study.optimize(lambda t: t.suggest_float("c0", 0, 1) + t.suggest_float("o1", 0, 1), n_trials=6)
    assert all(t.state == TrialState.COMPLETE for t in study.trials)


def test_seeds() -> None:
    np = pytest.importorskip("numpy")
    study = optuna.create_study(sampler=FunctionSpaceSampler(seed=np.int64(3)))
    study.optimize(lambda t: t.suggest_float("x", 0, 1), n_trials=5)
    for seed in (-1, 2**64, 1.5, "1"):
        with pytest.raises(StudyError, match="want a whole number from 0 to"):
            FunctionSpaceSampler(seed=seed)  # type: ignore[arg-type]


def test_jobs_share_an_initial_design() -> None:
    sampler = FunctionSpaceSampler(seed=2, n_startup_trials=16)
    seed = sampler._seed
    study = optuna.create_study(sampler=sampler)
    study.optimize(lambda t: t.suggest_float("x", 0, 1), n_trials=17, n_jobs=2)
    assert sampler._seed == seed
    x = sorted([0.0, *(t.params["x"] for t in study.trials[1:]), 1.0])
    assert max(b - a for a, b in itertools.pairwise(x)) < 0.2
    copy = pickle.loads(pickle.dumps(sampler))
    copy._process = -1  # as in another process
    copy.reseed_rng()
    assert copy._seed != seed


def test_an_imported_study_continues_with_lists(tmp_path: Path) -> None:
    layers = [None, [64, 32], ["it's", 'a "b"', "c\nd", 1e-7, True]]
    storage = f"sqlite:///{tmp_path / 'optuna.db'}"
    study = optuna.create_study(storage=storage, study_name="nets", sampler=RandomSampler(seed=1))
    study.enqueue_trial({"layers": layers[1]}, user_attrs={"why": "half"})
    study.optimize(
        lambda t: t.suggest_float("x", 0, 1) + len(t.suggest_categorical("layers", layers) or []), 6
    )
    store = str(tmp_path / "bo.db")
    subprocess.run(
        [find_binary(), "study", "import", str(tmp_path / "optuna.db"), "--store", store],
        check=True,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        space = {"x": Float(0, 1), "layers": Categorical(layers)}
        opened = Study.open(store, "nets", space=space)
    assert opened.trials[0].params["layers"] == layers[1]
    assert all(any(t.params["layers"] == choice for choice in layers) for t in opened.trials)
    opened.enqueue({"x": 0.5, "layers": layers[2]})
    assert opened.ask().params == {"x": 0.5, "layers": layers[2]}
