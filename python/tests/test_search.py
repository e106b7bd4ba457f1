from __future__ import annotations

import pickle
import warnings
from time import sleep
from typing import Any

import pytest

from functionspace_bo import Categorical, Float, Int, RequestError, StudyError

np = pytest.importorskip("numpy")
pytest.importorskip("sklearn", minversion="1.6")

from sklearn.base import BaseEstimator, ClassifierMixin, clone  # noqa: E402
from sklearn.datasets import make_classification  # noqa: E402
from sklearn.exceptions import FitFailedWarning  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.model_selection import (  # noqa: E402
    GroupKFold,
    KFold,
    ShuffleSplit,
    cross_val_score,
)
from sklearn.neural_network import MLPClassifier  # noqa: E402
from sklearn.pipeline import Pipeline, make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402
from sklearn.svm import SVC  # noqa: E402

from functionspace_bo._choices import Choices  # noqa: E402
from functionspace_bo.search import SearchCV  # noqa: E402

X, Y = make_classification(n_samples=120, n_features=5, random_state=0)
SPACE: dict[str, Any] = {
    "svc__kernel": ["rbf", "linear"],
    "svc__C": Float(1e-3, 1e3, log=True),
    "svc__gamma": Float(1e-4, 10, log=True, when="svc__kernel == 'rbf'"),
}


class Peaked(ClassifierMixin, BaseEstimator):  # type: ignore[misc,unused-ignore]
    """Has the score 1 - (at - 3)² and fails below `least`; `stop` is interrupted."""

    def __init__(self, at: float = 0, least: float = -10, stop: float = 20) -> None:
        self.at, self.least, self.stop = at, least, stop

    def fit(self, x: Any, y: Any) -> Peaked:
        if self.at < self.least:
            raise ValueError(f"at {self.at} is too small")
        if self.at > self.stop:
            raise KeyboardInterrupt
        self.classes_ = np.unique(y)
        return self

    def score(self, x: Any, y: Any) -> float:
        return 1 - (self.at - 3) ** 2


def test_finds_the_parameters_of_a_pipeline() -> None:
    pipeline = make_pipeline(StandardScaler(), SVC())
    search = SearchCV(pipeline, SPACE, budget=12, cv=3).fit(X, Y)
    score = cross_val_score(clone(pipeline).set_params(**search.best_params_), X, Y, cv=3).mean()
    assert search.best_score_ == score == search.study_.best.value
    assert search.best_params_ == search.study_.best.params
    assert search.best_score_ == max(search.cv_results_["mean_test_score"])
    assert len(search.cv_results_["params"]) == 12
    gamma, kernel = (search.cv_results_[f"param_svc__{name}"] for name in ("gamma", "kernel"))
    assert list(np.ma.getmaskarray(gamma)) == [k == "linear" for k in kernel]
    assert search.predict(X).shape == (120,)
    assert search.n_splits_ == 3


def test_equal_seeds_and_any_number_of_processes_have_equal_candidates() -> None:
    def candidates(**arguments: Any) -> Any:
        space = {"C": Float(1e-3, 1e3, log=True)}
        search = SearchCV(LogisticRegression(), space, budget=10, cv=2, **arguments)
        return search.fit(X, Y).cv_results_["params"]

    assert candidates() == candidates()
    assert candidates() != candidates(random_state=1)
    assert candidates(batch=4) == candidates(batch=4, n_jobs=2)
    assert len(candidates(batch=4)) == 10


def test_random_states() -> None:
    def candidates(random_state: Any) -> list[dict[str, Any]]:
        search = SearchCV(Peaked(), {"at": Float(-5, 5)}, budget=3, random_state=random_state)
        return list(search.fit(X, Y).cv_results_["params"])

    assert candidates(np.random.RandomState(0)) == candidates(np.random.RandomState(0))
    assert candidates(np.random.RandomState(0)) != candidates(0)
    assert candidates(np.random.default_rng(0)) != candidates(0)
    assert candidates(None) == candidates(0)
    with pytest.raises(RequestError, match="random_state is 'a', want a whole number, 0 or more"):
        candidates("a")


def test_groups_and_several_scores() -> None:
    groups = np.arange(120) % 4
    space = {"C": Float(1e-3, 1e3, log=True)}
    search = SearchCV(
        LogisticRegression(),
        space,
        budget=6,
        cv=GroupKFold(4),
        scoring=["accuracy", "neg_log_loss"],
        refit="neg_log_loss",
        return_train_score=True,
    ).fit(X, Y, groups=groups)
    assert search.best_score_ == max(search.cv_results_["mean_test_neg_log_loss"])
    assert search.study_.best.value == search.best_score_
    assert "mean_train_accuracy" in search.cv_results_
    with pytest.raises(StudyError, match="refit=False names no score"):
        clone(search).set_params(refit=False).fit(X, Y, groups=groups)


def test_failed_candidates_are_points_to_avoid() -> None:
    with pytest.warns(FitFailedWarning):
        search = SearchCV(Peaked(least=0), {"at": Float(-5, 5)}, budget=15, batch=3).fit(X, Y)
    states = [t.state for t in search.study_.trials]
    assert states.count("failed") > 0
    assert all((t.params["at"] < 0) == (t.state == "failed") for t in search.study_.trials)
    assert abs(search.best_params_["at"] - 3) < 0.5
    failed = next(t for t in search.study_.trials if t.state == "failed")
    assert failed.message in (
        "the score is nan",
        f"ValueError: at {failed.params['at']} is too small",
    )


def test_a_search_whose_first_candidates_fail_ends_with_their_error() -> None:
    with pytest.raises(ValueError, match="is too small"):
        SearchCV(Peaked(least=6), {"at": Float(-5, 5)}, budget=15).fit(X, Y)
    first = [{"at": at} for at in (-1, -2, -3, -4)]
    options = {"failures": "expected", "first": first}
    search = SearchCV(Peaked(least=0), {"at": Float(-5, 5)}, budget=4, options=options)
    with pytest.raises(ValueError, match=r"at -4\.0 is too small"):
        search.fit(X, Y)
    options["first"] = [*first, {"at": 1}]
    assert search.set_params(budget=5).fit(X, Y).best_params_ == {"at": 1}
    with pytest.raises(ValueError, match="Invalid parameter 'nowhere'"):
        SearchCV(Peaked(), {"nowhere": Float(-5, 5)}).fit(X, Y)
    with pytest.raises(ValueError, match="is too small"):
        SearchCV(Peaked(least=6), {"at": Float(-5, 5)}, error_score="raise").fit(X, Y)


def test_an_interrupted_search_has_its_best_candidate() -> None:
    options = {"first": [{"at": 1}, {"at": 2}, {"at": 4.5}]}
    with pytest.warns(UserWarning, match="interrupted: the search ends with 2 candidates"):
        search = SearchCV(Peaked(stop=4), {"at": Float(-5, 5)}, options=options).fit(X, Y)
    assert search.best_params_ == {"at": 2}
    with pytest.raises(KeyboardInterrupt):
        SearchCV(Peaked(stop=-5), {"at": Float(-5, 5)}).fit(X, Y)


def test_a_finite_space_ends_the_search() -> None:
    search = SearchCV(Peaked(), {"at": Int(1, 4)}, options={"noise_free": True}).fit(X, Y)
    assert sorted(p["at"] for p in search.cv_results_["params"]) == [1, 2, 3, 4]
    assert search.best_params_ == {"at": 3}


@pytest.mark.parametrize(
    ("space", "options", "warned"),
    [
        ({"at": Int(1, 3, step=2), "least": [-1, -2, -3]}, {}, 1),
        ({"at": Int(1, 3, step=2), "least": [-1, -2, -3]}, {"noise_free": True}, 0),
        ({"at": Int(1, 8)}, {}, 0),
        ({"at": Float(-5, 5), "least": [-9, -8]}, {}, 0),
    ],
)
def test_a_space_that_is_smaller_than_the_budget_warns(
    space: Any, options: Any, warned: int, recwarn: pytest.WarningsRecorder
) -> None:
    SearchCV(Peaked(), space, budget=8, cv=2, options=options).fit(X, Y)
    assert sum("the space has 6 candidates" in str(w.message) for w in recwarn) == warned


@pytest.mark.parametrize("given", [(0.01, 9), (0.01, 9, "log-uniform")])
def test_a_tuple_that_resembles_a_range_is_no_choice(given: Any) -> None:
    with pytest.raises(StudyError, match=r"use Float\(0.01, 9"):
        SearchCV(Peaked(), {"at": given}).fit(X, Y)


def test_a_tuple_with_a_name_among_numbers_is_a_choice() -> None:
    search = SearchCV(Peaked(), {"at": (0, 3, "scale")}, budget=3, cv=2, error_score=-9).fit(X, Y)
    assert search.best_params_ == {"at": 3}


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"goal": "minimize"}, "options: goal: a score is maximised"),
        ({"seed": 1}, "options: seed: the argument random_state"),
        ({"batch": 2}, "options: batch: the argument batch"),
        ({"stop": "median"}, "options: stop: a candidate is scored at once"),
        ({"end": {"target": 0.9}}, "options: end: the arguments budget and time end the search"),
        ({"require": ["size <= 3"]}, "options: require: a candidate has one number"),
        ({"kernle": "rbf"}, "kernle"),
    ],
)
def test_invalid_options(options: dict[str, Any], fault: str) -> None:
    with pytest.raises(StudyError, match=fault):
        SearchCV(Peaked(), {"at": Float(-5, 5)}, options=options).fit(X, Y)


def test_earlier_evaluations_do_not_count_against_the_budget() -> None:
    earlier = [{"params": {"at": at}, "value": 1 - (at - 3) ** 2} for at in (0, 1, 2)]
    search = SearchCV(Peaked(), {"at": Float(-5, 5)}, budget=3, options={"earlier": earlier})
    assert len(search.fit(X, Y).cv_results_["params"]) == 3
    assert len(search.study_.trials) == 6
    with pytest.raises(ValueError, match="is too small"):
        clone(search).set_params(estimator=Peaked(least=6)).fit(X, Y)
    with pytest.raises(KeyboardInterrupt):
        clone(search).set_params(estimator=Peaked(stop=-5)).fit(X, Y)


@pytest.mark.parametrize(
    ("cv", "warned"),
    [
        (3, 0),
        (KFold(3), 0),
        (KFold(3, shuffle=True, random_state=1), 0),
        (KFold(3, shuffle=True), 1),
        (ShuffleSplit(3), 1),
    ],
)
def test_folds_that_change_warn(cv: Any, warned: int, recwarn: pytest.WarningsRecorder) -> None:
    SearchCV(Peaked(), {"at": Float(-5, 5)}, budget=2, cv=cv).fit(X, Y)
    assert sum("set random_state of cv" in str(w.message) for w in recwarn) == warned


def test_a_fault_of_a_fit_is_no_failed_candidate() -> None:
    class Faulty(Peaked):
        def fit(self, x: Any, y: Any) -> Peaked:
            raise ValueError("All the rows are equal")

    search = SearchCV(Faulty(), {"at": Float(-5, 5)}, error_score="raise")
    with pytest.raises(ValueError, match="All the rows"):
        search.fit(X, Y)
    assert [t.state for t in search.study_.trials] == ["pending"]


def test_the_time_ends_a_search() -> None:
    class Slow(Peaked):
        def fit(self, x: Any, y: Any) -> Peaked:
            sleep(0.2)
            return super().fit(x, y)

    space: Any = {"at": Float(-5, 5)}
    search = SearchCV(Slow(), space, budget=500, time=1, cv=2, refit=False).fit(X, Y)
    assert 1 <= len(search.cv_results_["params"]) <= 5
    search = SearchCV(Peaked(), space, budget=5, time=0).fit(X, Y)
    assert len(search.cv_results_["params"]) == 1  # without a candidate there is no result
    with pytest.raises(StudyError, match="time is '10m', want a finite number of seconds"):
        SearchCV(Peaked(), space, time="10m").fit(X, Y)  # type: ignore[arg-type]
    for wrong in (-1, True):
        with pytest.raises(StudyError, match=f"time is {wrong}, want a finite number"):
            SearchCV(Peaked(), space, time=wrong).fit(X, Y)


def test_copies() -> None:
    search = SearchCV(Peaked(), {"at": Float(-5, 5)}, budget=5, random_state=3).fit(X, Y)
    copy = pickle.loads(pickle.dumps(search))
    assert copy.best_params_ == search.best_params_
    assert copy.study_.records() == search.study_.records()
    assert clone(search).get_params()["space"] == {"at": Float(-5, 5)}


def test_chooses_between_estimators_with_their_own_parameters() -> None:
    pipeline = Pipeline([("scale", StandardScaler()), ("model", SVC())])
    space = [
        {
            "model": [SVC(), SVC(kernel="linear")],
            "model__C": Float(1e-2, 1e2, log=True),
            "model__gamma": Float(1e-3, 1, log=True, when="model == 'SVC()' and model__C < 10"),
            "scale": [StandardScaler(), None],
        },
        {
            "model": [LogisticRegression()],
            "model__C": Float(1e-3, 1, log=True),
            "scale": [StandardScaler(), None],
        },
        {"model": [Peaked()], "model__at": Int(0, 9), "scale": ["passthrough"]},
    ]
    search = SearchCV(pipeline, space, budget=12, cv=2).fit(X, Y)
    assert {type(p["model"]) for p in search.cv_results_["params"]} == {
        SVC,
        LogisticRegression,
        Peaked,
    }
    for candidate, trial in zip(search.cv_results_["params"], search.study_.trials, strict=True):
        model = candidate["model"]
        assert type(trial.params["model"]) is type(model)
        assert trial.record()["params"]["model"] == (
            repr(model) if type(model) is SVC else type(model).__name__
        )
        assert ("model__at" in candidate) == (type(model) is Peaked)
        assert ("model__C" in candidate) == (type(model) is not Peaked)
        gamma = repr(model) == "SVC()" and candidate["model__C"] < 10
        assert ("model__gamma" in candidate) == gamma
        assert candidate["scale"] == "passthrough" or type(model) is not Peaked
    names = [p["name"] for p in search.study_.definition["parameters"]]
    assert names == [
        "model",
        "model__C_SVC",
        "model__C_LogisticRegression",
        "model__gamma",
        "scale_SVC",
        "scale_Peaked",
        "model__at",
    ]
    assert pickle.loads(pickle.dumps(search)).best_params_.keys() == search.best_params_.keys()
    clone(search)


def test_a_choice_is_any_object() -> None:
    space = {
        "hidden_layer_sizes": [(4,), (4, 2)],
        "random_state": [None, 3],
        "activation": ["tanh"],
    }
    search = SearchCV(MLPClassifier(max_iter=5), space, budget=4, cv=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few iterations
        search.fit(X, Y)
    assert {p["hidden_layer_sizes"] for p in search.cv_results_["params"]} == {(4,), (4, 2)}
    assert {p["random_state"] for p in search.cv_results_["params"]} == {None, 3}
    assert search.best_params_["activation"] == "tanh"
    assert {t.params["hidden_layer_sizes"] for t in search.study_.trials} == {(4,), (4, 2)}
    assert {r["params"]["random_state"] for r in search.study_.records()} == {"None", 3}


def test_spaces_that_nothing_tells_apart() -> None:
    space: list[dict[str, Any]] = [{"C": Float(0.1, 1)}, {"kernel": ["rbf", "linear"]}]
    with pytest.raises(StudyError, match="no parameter tells the dictionaries of the space apart"):
        SearchCV(SVC(), space, budget=3).fit(X, Y)


def test_equal_choices_tell_no_spaces_apart() -> None:
    weight = [{"class_weight": [{0: 1, 1: 2}], "kernel": [kernel]} for kernel in ("rbf", "linear")]
    space = Choices.of(weight).space
    assert isinstance(space, dict)
    assert space["kernel"] == Categorical(["rbf", "linear"])
    with pytest.raises(StudyError, match="no parameter tells the dictionaries of the space apart"):
        Choices.of([weight[0], {**weight[0], "C": Float(0.1, 1)}])


def test_ranges_of_scipy() -> None:
    stats = pytest.importorskip("scipy.stats")
    space = Choices.of(
        {
            "C": stats.loguniform(1e-3, 1e3),
            "scaled": stats.reciprocal(0.5, 2, scale=10),
            "x": stats.uniform(2, 3),
            "n": stats.randint(1, 5),
            "k": ["a", "b"],
        }
    ).space
    assert space == {
        "C": Float(1e-3, 1e3, log=True),
        "scaled": Float(5, 20, log=True),
        "x": Float(2, 5),
        "n": Int(1, 4),
        "k": Categorical(["a", "b"]),
    }
    rows = [{"k": ["a"], "x": stats.uniform(0, 1)}, {"k": ["b"], "x": stats.uniform(0, 1)}]
    assert Choices.of(rows).space == {"k": Categorical(["a", "b"]), "x": Float(0, 1)}


@pytest.mark.parametrize(("kind", "args"), [("norm", ()), ("loguniform", (1, 9, 3))])
def test_distributions_that_are_no_ranges(kind: str, args: tuple[float, ...]) -> None:
    distribution = getattr(pytest.importorskip("scipy.stats"), kind)(*args)
    with pytest.raises(
        StudyError, match=f"parameter 'C' has the distribution {kind} of SciPy: want"
    ):
        Choices.of({"C": distribution})
