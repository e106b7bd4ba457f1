"""A sampler for Optuna.

    import optuna
    from functionspace_bo.optuna import FunctionSpaceSampler

    study = optuna.create_study(sampler=FunctionSpaceSampler())
    study.optimize(objective, n_trials=60)

This module needs Optuna 5 or later: pip install 'optuna>=5'.
"""

from __future__ import annotations

import json
import logging
import operator
import os
import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, SupportsFloat, TypeVar

from ._definition import define
from ._options import METHOD
from ._outcomes import as_float
from ._process import on_fork
from ._suggester import Suggester
from .errors import ExhaustedError, FitError, RequestError, StudyError

try:
    from optuna import __version__ as _version
    from optuna.distributions import BaseDistribution
    from optuna.samplers import BaseSampler, PartialFixedSampler, RandomSampler
    from optuna.samplers._base import _process_constraints_after_trial
    from optuna.search_space import intersection_search_space
    from optuna.study import Study, StudyDirection
    from optuna.trial import FrozenTrial, TrialState
except ImportError as err:
    raise ImportError(
        "functionspace_bo.optuna needs Optuna 5 or later: pip install 'optuna>=5'"
    ) from err
if int(_version.partition(".")[0]) < 5:
    raise ImportError(
        f"functionspace_bo.optuna needs Optuna 5 or later, and this is Optuna {_version}: "
        "pip install 'optuna>=5'"
    )

from ._conditions import Part, divide
from ._distributions import (
    Distributions,
    Values,
    contains,
    decode,
    obstacle,
    parameter_names,
    searchable,
    single,
)

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import MethodOptions

__all__ = ["FunctionSpaceSampler"]

_T = TypeVar("_T")

_logger = logging.getLogger("optuna.functionspace_bo")

_ATTRIBUTE = "functionspace_bo:params"
_SPACES = 32  # whose points are kept
_OBJECTIVES = 20  # the limit of `bo`
_REMEDIES = {
    "noise_free": "deterministic_objective",
    "initial": "n_startup_trials",
    "goal": "direction of optuna.create_study",
    "direction": "direction of optuna.create_study",
    "directions": "directions of optuna.create_study",
}
_LENGTH = 2000  # characters of an attribute; some databases store no more than 2046


class FunctionSpaceSampler(BaseSampler):
    """Samples by Bayesian optimisation with a Gaussian process or a function-space network.

    One surrogate model has the parameters of all complete trials and conditional parameters whose
    condition the complete trials show: certain values of one other parameter, such as a choice of a
    model or a number of layers. Other conditional parameters have a model for each group that
    occurs together. The models use complete, pruned and failed trials; running trials, also of
    other processes, are pending points. Of up to four objectives the hypervolume is improved, of
    more objectives random scalarisations.

    The methods may be called from several threads. Suggestions come from one `bo` process, which
    starts with the first suggestion and ends with the sampler.

    Args:
        seed: Seed of all random numbers; default a random seed, and another one in each forked
            process and in each unpickled copy.
        n_startup_trials: Number of trials of the initial design; default 2 per parameter of a
            model and 2, at most 20.
        group: Sample conditional parameters too. If false, only parameters of all complete trials
            are sampled by a model, and the others by independent_sampler.
        deterministic_objective: Equal points have equal values.
        noise_sd: Standard deviation of the noise of a value, in its unit, if it is known; a
            sequence for several objectives.
        independent_sampler: Sampler of the trials until one is complete or pruned, and of
            parameters that no complete or pruned trial has; default RandomSampler.
        constraints_func: Function of a trial that returns numbers, which are above zero if the
            trial violates a constraint. `Trial.set_constraint` in the objective does the same.
        warn_independent_sampling: Log a warning if a known parameter is sampled by
            independent_sampler.
        options: Surrogate model, kernel, acquisition function and other options of the method by
            their names in the study file.
    """

    def __init__(
        self,
        *,
        seed: int | None = None,
        n_startup_trials: int | None = None,
        group: bool = True,
        deterministic_objective: bool = False,
        independent_sampler: BaseSampler | None = None,
        constraints_func: Callable[[FrozenTrial], Sequence[float]] | None = None,
        warn_independent_sampling: bool = True,
        noise_sd: SupportsFloat | Sequence[SupportsFloat] | None = None,
        **options: Unpack[MethodOptions],
    ) -> None:
        self._options = _method(options, n_startup_trials)
        self._seed = _random_seed() if seed is None else _checked_seed(seed)
        self._stated = seed is not None
        self._process = os.getpid()
        self._group = group
        self._deterministic = deterministic_objective
        self._noise = _noise(noise_sd)
        self._independent_default = independent_sampler is None
        self._independent_sampler = independent_sampler or RandomSampler(
            seed=None if seed is None else self._seed % 2**32
        )
        self._constraints_func = constraints_func
        self._warn = warn_independent_sampling
        self._suggester = Suggester()
        try:
            self._suggester.check({**self._options, "objectives": self._stated_noise()})
        except StudyError as err:
            message = str(err).replace(" initial ", " n_startup_trials ")
            message = message.replace("noise_free: true", "deterministic_objective=True")
            raise StudyError(message.replace("noise_free", "deterministic_objective")) from None
        self._forget()
        self._lock = threading.Lock()  # held from reading the trials to storing the suggestion
        on_fork(self)

    def reseed_rng(self) -> None:
        """Draws another seed in another process.

        The threads of a process share the seed: a suggestion takes the pending trials into account.
        """
        if self._process != os.getpid():
            self._process = os.getpid()
            self._seed = _random_seed()
        self._independent_sampler.reseed_rng()

    def infer_relative_search_space(
        self, study: Study, trial: FrozenTrial
    ) -> dict[str, BaseDistribution]:
        """Returns the parameters of all groups, or of all complete trials without groups."""
        study = _whole(study)
        trials = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE, TrialState.PRUNED))
        parts = self._parts(trials)
        return {name: d for part in parts for name, d in part.distributions.items()}

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """Returns suggested values of all parameters of a search space.

        They are suggested for the values that enqueue_trial and PartialFixedSampler state of other
        parameters.
        """
        study = _whole(study)
        self._check_objectives(study)
        fixed = _fixed(study.sampler)
        absent = fixed.keys() - search_space.keys()
        fixed |= trial.system_attrs.get("fixed_params", {})
        if search_space.keys() <= fixed.keys():
            return {}
        with self._lock:
            trials = study.get_trials(deepcopy=False)
            history = _History(
                [t for t in trials if t.number != trial.number],
                [
                    "maximize" if direction == StudyDirection.MAXIMIZE else "minimize"
                    for direction in study.directions
                ],
                self._names_of,
            )
            known = {n: d for part in self._parts(trials) for n, d in part.distributions.items()}
            space = {n: d for n, d in known.items() if n in absent and contains(d, fixed[n])}
            space |= search_space
            sampled: dict[str, Any] = {}
            for part in self._divide(trials, space, fixed):
                sampled |= self._sample(study, history, part, fixed)
            _store(study, trial, space, {**sampled, **fixed})
        return {n: value for n, value in sampled.items() if n in search_space}

    def sample_independent(
        self,
        study: Study,
        trial: FrozenTrial,
        param_name: str,
        param_distribution: BaseDistribution,
    ) -> Any:
        """Returns a value of independent_sampler."""
        self._check_objectives(study)
        if self._warn and (reason := self._reason(study, param_name, param_distribution)):
            _logger.warning(
                "Trial %d: parameter %r is sampled by %s, because %s. "
                "warn_independent_sampling=False suppresses this warning.",
                trial.number,
                param_name,
                type(self._independent_sampler).__name__,
                reason,
            )
        return self._independent_sampler.sample_independent(
            study, trial, param_name, param_distribution
        )

    def before_trial(self, study: Study, trial: FrozenTrial) -> None:
        """Calls independent_sampler."""
        self._independent_sampler.before_trial(study, trial)

    def after_trial(
        self,
        study: Study,
        trial: FrozenTrial,
        state: TrialState,
        values: Sequence[float] | None,
    ) -> None:
        """Stores the constraints, and calls independent_sampler."""
        if self._constraints_func is not None:
            _process_constraints_after_trial(self._constraints_func, study, trial, state)
        self._independent_sampler.after_trial(study, trial, state, values)

    def _reason(self, study: Study, name: str, d: BaseDistribution) -> str | None:
        """Returns the reason why a parameter of complete trials is sampled independently.

        It is None if no complete trial has the parameter, or if the parameter occurs where the
        trials so far did not have it: then its condition is learned.
        """
        trials = _whole(study).get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
        having = [t for t in trials if name in t.distributions]
        if not having:
            return None
        if found := obstacle(d):
            return f"it has {found}"
        if having[-1].distributions[name] != d:
            return "its distribution changes"
        return None if self._group else "it is not in all trials"

    def _stated_noise(self) -> list[dict[str, Any]]:
        """Returns objectives with the stated noise, in the form of a request."""
        return [
            {"name": f"o{i}", "noise_sd": sd, "noise_free": self._deterministic}
            for i, sd in enumerate(self._noise)
        ]

    def _check_objectives(self, study: Study) -> None:
        """Raises ValueError if the sampler cannot optimise the objectives of a study."""
        n = len(study.directions)
        if n > _OBJECTIVES:
            raise ValueError(
                f"the study has {n} objectives: FunctionSpaceSampler is for at most {_OBJECTIVES}"
            )
        if self._noise and len(self._noise) != n:
            raise ValueError(
                f"the study has {n} objectives, and noise_sd has {len(self._noise)} numbers: want "
                "one for each objective"
            )

    def close(self) -> None:
        """Ends the `bo` process. The next suggestion starts another."""
        with self._lock:
            self._suggester.close()

    def _parts(
        self, trials: Sequence[FrozenTrial], controls: Iterable[str] | None = None
    ) -> list[Part]:
        """Returns the parts of the parameters to sample; controls as in divide."""
        if self._group:
            return divide(trials, controls)
        space = intersection_search_space(list(trials))
        return [Part({name: d for name, d in space.items() if searchable(d)})]

    def _divide(
        self, trials: Sequence[FrozenTrial], space: Distributions, fixed: Mapping[str, Any]
    ) -> list[Part]:
        """Returns the parts of a search space.

        The space may have other parameters than the trials. A parameter with a fixed value outside
        of the space controls no others, because the suggested value differs from it.
        """
        outside = {n for n, value in fixed.items() if n in space and not contains(space[n], value)}
        parts = [
            Part({n: space[n] for n in part.distributions if n in space}, part.conditions)
            for part in self._parts(trials, space.keys() - outside)
        ]
        known = {name for part in parts for name in part.distributions}
        rest = {n: d for n, d in sorted(space.items()) if n not in known and searchable(d)}
        return [part for part in [*parts, Part(rest)] if part.distributions]

    def _sample(
        self, study: Study, history: _History, part: Part, fixed: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Returns suggested values of the parameters of a part that are active, given others.

        There are none if the given values include all active parameters.
        """
        if part.request(fixed) is not None:
            return {}
        space = part.distributions
        names = parameter_names(space)
        exact = self._deterministic and history.complete(space)
        definition: dict[str, Any] = {
            **self._options,
            "parameters": part.definition(names),
            "objectives": history.objectives(exact, self._noise),
            "seed": self._seed,
        }
        if history.constraints:
            definition["require"] = [f"c{i} <= 0" for i in range(len(history.constraints))]
        told = history.told(part, self._known_in(study, history, part))
        given = part.given(fixed)
        try:
            point = self._suggester.ask(study.study_name, definition, told, given)
        except ExhaustedError:  # every point has a trial
            definition["objectives"] = history.objectives(False, self._noise)
            point = self._suggester.ask(study.study_name, definition, told, given)
        except (FitError, RequestError):  # mes takes no values, or no point with these is found
            if not given:
                raise
            point = self._suggester.ask(study.study_name, definition, told)
        return {n: decode(d, point[names[n]]) for n, d in space.items() if names[n] in point}

    def _forget(self) -> None:
        """Drops the forms of trials in requests, and the names of their constraints."""
        self._forms: OrderedDict[str, _Known[Any]] = OrderedDict()
        self._names: _Known[frozenset[str]] = _Known()

    def _names_of(self, t: FrozenTrial) -> frozenset[str]:
        """Returns the names of the constraints of a trial."""
        return self._names.get(
            t, lambda t: frozenset(t.constraints), lambda t: t.state.is_finished()
        )

    def _known_in(self, study: Study, history: _History, part: Part) -> _Known[Any]:
        """Returns the known forms of trials in a part, of the parts that were used last."""
        key = repr([study.study_name, part, history.constraints])
        known = self._forms.setdefault(key, _Known())
        self._forms.move_to_end(key)
        if len(self._forms) > _SPACES:
            self._forms.popitem(last=False)
        return known

    def _renew_seed(self) -> None:
        """Draws another seed unless it was stated: copies of a sampler suggest different points."""
        if self._stated:
            return
        self._seed = _random_seed()
        if self._independent_default:
            self._independent_sampler.reseed_rng()

    def _after_fork(self) -> None:
        self._lock = threading.Lock()
        self._renew_seed()

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        for key in ("_lock", "_forms", "_names"):
            del state[key]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._forget()
        self._lock = threading.Lock()
        self._renew_seed()
        on_fork(self)


class _History:
    """The trials of a study."""

    def __init__(
        self,
        trials: Sequence[FrozenTrial],
        goals: Sequence[str],
        names: Callable[[FrozenTrial], frozenset[str]],
    ) -> None:
        self.goals = goals
        self._values = Values(trials, goals, names)
        self.constraints = self._values.constraints
        self._trials = [t for t in trials if t.state != TrialState.WAITING]

    def complete(self, space: Distributions) -> bool:
        """Reports whether finished trials have no other parameters than the space."""
        return not any(
            name not in space and not single(d)
            for t in self._trials
            if t.state.is_finished()
            for name, d in t.distributions.items()
        )

    def objectives(self, noise_free: bool, noise: Sequence[float]) -> list[dict[str, Any]]:
        """Returns the objectives in the form of a request, with the noise if it is known."""
        names = ["value"] if len(self.goals) == 1 else [f"o{i}" for i in range(len(self.goals))]
        listed: list[dict[str, Any]] = [
            {"name": name, "goal": goal, "noise_free": noise_free}
            for name, goal in zip(names, self.goals, strict=True)
        ]
        for objective, sd in zip(listed, noise, strict=False):
            objective["noise_sd"] = sd
        return listed

    def told(self, part: Part, known: _Known[Any]) -> list[dict[str, Any]]:
        """Returns the trials that have values of a part in the form of a request."""
        forms = (known.get(t, lambda t: self._form(t, part), self.constant) for t in self._trials)
        return [form for form in forms if form is not None]

    def constant(self, t: FrozenTrial) -> bool:
        """Reports whether the form of a trial does not depend on other trials."""
        return t.state.is_finished() and self._values.constant(t)

    def _form(self, t: FrozenTrial, part: Part) -> dict[str, Any] | None:
        """Returns the form of a trial in a request, or None if it lacks a value of the part.

        A trial that ended before it had all values of the part has the suggested ones. Without it
        in the history the next suggestion would be the same point.
        """
        finished = t.state.is_finished()
        absent = finished and part.distributions.keys().isdisjoint(t.params)
        stored = {} if absent else _stored(t, part.distributions)
        point = part.request({**stored, **t.params})
        if point is None:
            return None
        numbers = self._numbers(t) if finished else None
        if numbers is not None:
            return {"params": point, "state": "complete", **numbers}
        return {"params": point, "state": "failed" if finished else "pending"}

    def _numbers(self, t: FrozenTrial) -> dict[str, Any] | None:
        """Returns the results of a finished trial, or None if it counts as failed."""
        values, constraints = self._values.of(t), self._values.numbers(t)
        if values is None or constraints is None:
            return None
        if len(values) == 1:
            return {"value": values[0], **({"numbers": constraints} if constraints else {})}
        return {"numbers": {**{f"o{i}": v for i, v in enumerate(values)}, **constraints}}


class _Known(Generic[_T]):
    """A property of the trials of a study that is computed once for each constant trial."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[FrozenTrial, _T]] = {}

    def get(
        self,
        t: FrozenTrial,
        compute: Callable[[FrozenTrial], _T],
        constant: Callable[[FrozenTrial], bool],
    ) -> _T:
        """Returns the property of a trial. constant reports whether it will not change."""
        known = self._known.get(t.number)
        if known is not None and known[0] is t:  # some storages copy trials
            return known[1]
        value = compute(t)
        if constant(t):
            self._known[t.number] = (t, value)
        return value


def _whole(study: Study) -> Study:
    """Returns the study that a view belongs to.

    HyperbandPruner gives samplers a view with the trials of one bracket. Without the other
    brackets, the sampler would suggest their points again.
    """
    whole: Study = getattr(study, "_study", study)
    return whole


def _fixed(sampler: BaseSampler) -> dict[str, Any]:
    """Returns the values that PartialFixedSampler states."""
    fixed: dict[str, Any] = {}
    while isinstance(sampler, PartialFixedSampler):
        fixed = {**sampler._fixed_params, **fixed}
        sampler = sampler._base_sampler
    return fixed


def _store(
    study: Study, trial: FrozenTrial, space: Distributions, params: Mapping[str, Any]
) -> None:
    """Stores the parameters of a running trial: the pending point of other processes."""
    text = json.dumps(
        {
            name: d.to_internal_repr(params[name])
            for name, d in space.items()
            if name in params and contains(d, params[name])
        }
    )
    for i in range(0, len(text), _LENGTH):
        study._storage.set_trial_system_attr(
            trial._trial_id, f"{_ATTRIBUTE}:{i // _LENGTH}", text[i : i + _LENGTH]
        )


def _stored(trial: FrozenTrial, space: Distributions) -> dict[str, Any]:
    """Returns the parameters of a running trial that _store wrote."""
    parts: list[str] = []
    while (part := trial.system_attrs.get(f"{_ATTRIBUTE}:{len(parts)}")) is not None:
        parts.append(part)
    try:
        internal: dict[str, float] = json.loads("".join(parts) or "{}")
        return {n: d.to_external_repr(internal[n]) for n, d in space.items() if n in internal}
    except (ValueError, IndexError):  # not completely written, or of other choices
        return {}


def _method(options: Mapping[str, Any], initial: int | None) -> dict[str, Any]:
    """Returns the options in the form of the study file."""
    wrong = sorted(set(options) - METHOD)
    if wrong and wrong[0] in _REMEDIES:
        raise TypeError(f"{wrong[0]} is no option: use {_REMEDIES[wrong[0]]}")
    if wrong:
        raise TypeError(f"unknown option {wrong[0]!r}, want {', '.join(sorted(METHOD))}")
    definition, _ = define({}, {**options, "initial": initial})
    del definition["parameters"]
    return definition


def _noise(noise_sd: SupportsFloat | Sequence[SupportsFloat] | None) -> list[float]:
    """Returns the standard deviation of the noise of each objective, or an empty list."""
    if noise_sd is None:
        return []
    listed = noise_sd if isinstance(noise_sd, Sequence) else [noise_sd]
    return [as_float(sd, "noise_sd") for sd in listed]


def _checked_seed(seed: Any) -> int:
    """Returns a seed, which may be a number of NumPy, or raises StudyError."""
    try:
        number = operator.index(seed)
    except TypeError:
        number = -1
    if not 0 <= number < 2**64:
        raise StudyError(f"seed is {seed!r}, want a whole number from 0 to 2^64 - 1")
    return number


def _random_seed() -> int:
    return secrets.randbits(32)
