"""A search of the parameters of a scikit-learn estimator by cross-validation.

    from functionspace_bo import Categorical, Float
    from functionspace_bo.search import SearchCV

    search = SearchCV(
        SVC(),
        {
            "kernel": Categorical(["rbf", "linear"]),
            "C": Float(1e-3, 1e3, log=True),
            "gamma": Float(1e-5, 10, log=True, when="kernel == 'rbf'"),
        },
        budget=40,
        n_jobs=-1,
    ).fit(X, y)
    print(search.best_score_, search.best_params_)

This module needs NumPy and scikit-learn: pip install 'scikit-learn>=1.6'.
"""

from __future__ import annotations

import math
import numbers
import re
import warnings
from collections.abc import Callable, Mapping
from time import monotonic
from typing import TYPE_CHECKING, Any

from ._choices import Choices
from ._definition import is_noise_free
from ._run import finite
from ._space import Bool, Categorical, Float, Int, Ordinal, Parameter
from ._study import Study
from ._trial import Trial
from .errors import ExhaustedError, StudyError

try:
    from sklearn.model_selection._search import BaseSearchCV
except ImportError as err:
    raise ImportError(
        "functionspace_bo.search needs scikit-learn: pip install 'scikit-learn>=1.6'"
    ) from err

from ._estimator import seed_of

if TYPE_CHECKING:
    from ._space import Space

__all__ = ["SearchCV"]

_OWN = {
    "batch": "the argument batch",
    "budget": "the argument budget",
    "end": "the arguments budget and time end the search",
    "goal": "a score is maximised",
    "objectives": "refit names the score of several",
    "require": "a candidate has one number, its score",
    "seed": "the argument random_state",
    "stop": "a candidate is scored at once",
    "workers": "the arguments batch and n_jobs",
}
_ALL_FAILED = 3  # failed candidates that end a search without a score


class SearchCV(BaseSearchCV):  # type: ignore[misc,unused-ignore]
    """Searches the parameters of an estimator by Bayesian optimisation and cross-validation.

    It has the attributes and methods of GridSearchCV: best_params_, best_score_,
    best_estimator_, cv_results_, predict and others. study_ is the Study of the search, for example
    for study_.html_report().

    A candidate with the score NaN, because a fit failed, is a failed trial: a point to avoid. If
    the first three candidates fail, the search ends with the error of the last one, unless options
    has {"failures": "expected"}. A candidate of which every fit failed is in study_ and not in
    cv_results_, unless others of its batch have a score. Ctrl-C ends the search; the best
    candidate so far is then fitted.

    Args:
        estimator: The estimator or pipeline.
        space: Parameters by the names of set_params, such as {"svc__C": Float(1e-3, 1e3,
            log=True)}. A condition such as when="kernel == 'rbf'" leaves a parameter at the value
            that the estimator has. Ranges may be distributions of SciPy: uniform, loguniform and
            randint. Choices may be any objects, such as the estimators of a step:
            {"svc": [SVC(), LogisticRegression()]}. A list of dictionaries, as of GridSearchCV, is
            a choice between spaces: each has other values of one parameter. In conditions and
            tables, a label stands for an object: the name of its class or function, or its
            representation if several choices have the name.
        budget: Number of candidates.
        batch: Number of candidates that are evaluated at a time. With n_jobs, the fits of all
            folds of a batch run in parallel.
        time: The search starts no candidate, except for the first, after so many seconds.
        random_state: Seed of the search, or a random state of NumPy, which draws it. The same seed
            gives the same candidates.
        options: Further options of Study, such as {"surrogate": "auto", "first": [{"svc__C": 1}]}.
            {"noise_free": True} states that a repeated candidate has the same score.
        scoring: As for GridSearchCV. With several scores, refit names the score to maximise.
        n_jobs: As for GridSearchCV.
        refit: As for GridSearchCV. A function is for one score.
        cv: As for GridSearchCV. Folds that are shuffled need an integer random_state: folds are
            drawn again for every batch.
        verbose: As for GridSearchCV.
        pre_dispatch: As for GridSearchCV.
        error_score: As for GridSearchCV.
        return_train_score: As for GridSearchCV.
    """

    def __init__(
        self,
        estimator: Any,
        space: Space,
        *,
        budget: int = 50,
        batch: int = 1,
        time: float | None = None,
        random_state: Any = 0,
        options: Mapping[str, Any] | None = None,
        scoring: Any = None,
        n_jobs: int | None = None,
        refit: bool | str | Callable[..., int] = True,
        cv: Any = None,
        verbose: int = 0,
        pre_dispatch: int | str = "2*n_jobs",
        error_score: Any = math.nan,
        return_train_score: bool = False,
    ) -> None:
        super().__init__(
            estimator=estimator,
            scoring=scoring,
            n_jobs=n_jobs,
            refit=refit,
            cv=cv,
            verbose=verbose,
            pre_dispatch=pre_dispatch,
            error_score=error_score,
            return_train_score=return_train_score,
        )
        self.space = space
        self.budget = budget
        self.batch = batch
        self.time = time
        self.random_state = random_state
        self.options = options

    def _run_search(self, evaluate_candidates: Callable[..., dict[str, Any]]) -> None:
        """Evaluates the candidates of a study. BaseSearchCV.fit calls it."""
        options = dict(self.options or {})
        for key in sorted(options.keys() & _OWN.keys()):
            raise StudyError(f"options: {key}: {_OWN[key]}")
        limit = finite("time", self.time)
        deadline = math.inf if limit is None else monotonic() + limit
        self._choices = Choices.of(self.space)
        self.study_ = Study(
            self._choices.space,
            goal="maximize",
            budget=self.budget,
            batch=self.batch,
            seed=seed_of(self.random_state),
            **options,
        )
        tolerant = options.get("failures") == "expected"
        if _changes(self.cv):
            warnings.warn(
                "the folds of cv change from batch to batch, which adds noise to the comparison of "
                "candidates: set random_state of cv to an integer",
                stacklevel=3,
            )
        size = _size(self.study_)
        if size < self.budget and not is_noise_free(self.study_.definition):
            warnings.warn(
                f"the space has {size} candidates and the budget is {self.budget}: candidates are "
                'repeated. With options={"noise_free": True} the search ends when all have a score',
                stacklevel=3,
            )
        with self.study_ as study:
            try:
                while (left := self.budget - len(_candidates(study))) > 0:
                    try:
                        trials = study.ask(min(self.batch, left))
                    except ExhaustedError:
                        break
                    fault = self._evaluate(study, trials, evaluate_candidates)
                    tried = _candidates(study)
                    enough = len(tried) >= (self.budget if tolerant else _ALL_FAILED)
                    if fault and enough and all(t.state == "failed" for t in tried):
                        raise fault
                    if monotonic() >= deadline:
                        break
            except KeyboardInterrupt:
                done = sum(t.state == "complete" for t in _candidates(study))
                if not done:
                    raise
                warnings.warn(f"interrupted: the search ends with {done} candidates", stacklevel=2)

    def _evaluate(
        self, study: Study, trials: list[Trial], evaluate: Callable[..., dict[str, Any]]
    ) -> ValueError | None:
        """Evaluates trials and tells their scores to the study.

        Returns the error of scikit-learn if all fits failed.
        """
        try:
            results = evaluate([self._choices.params(t.params) for t in trials])
        except ValueError as err:
            if not re.match(r"\s*All the \d+ fits failed", str(err)):
                raise
            message = str(err).rstrip().rpartition("\n")[2]
            for t in trials:
                study.fail(t, message)
            return err
        scores = results[self._score(results)][-len(trials) :]
        for t, score in zip(trials, scores, strict=True):
            if math.isfinite(score):
                study.tell(t, float(score))
            else:
                study.fail(t, f"the score is {score}")
        return None

    def _score(self, results: Mapping[str, Any]) -> str:
        """Returns the key of the mean score to maximise."""
        if "mean_test_score" in results:
            return "mean_test_score"
        key = f"mean_test_{self.refit}"
        if key not in results:
            raise StudyError(
                f"refit={self.refit!r} names no score; the search needs one of several"
            )
        return key


def _candidates(study: Study) -> list[Trial]:
    """Returns the trials that the search asked for, without earlier evaluations."""
    return [t for t in study.trials if t.source != "added"]


def _size(study: Study) -> float:
    """Returns the number of points of a study, without regard to conditions."""
    return math.prod(_count(p) for p in study._parameters.values())


def _count(p: Parameter) -> float:
    """Returns the number of values of a parameter."""
    if isinstance(p, Float):
        return math.inf
    if isinstance(p, Int):
        return (p.max - p.min) // (p.step or 1) + 1
    if isinstance(p, (Categorical, Ordinal)):
        return len(p.values)
    return 2 if isinstance(p, Bool) else 1


def _changes(cv: Any) -> bool:
    """Reports whether each call of the method split of cv may return other folds."""
    seed = getattr(cv, "random_state", 0)
    return getattr(cv, "shuffle", True) and not isinstance(seed, numbers.Integral)
