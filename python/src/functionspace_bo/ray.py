"""A searcher for Ray Tune.

    from functionspace_bo.ray import FunctionSpaceSearch
    from ray import tune

    tuner = tune.Tuner(
        train,
        param_space={"lr": tune.loguniform(1e-5, 0.1), "layers": tune.randint(1, 9)},
        tune_config=tune.TuneConfig(
            metric="loss", mode="min", search_alg=FunctionSpaceSearch(), num_samples=60
        ),
    )

This module needs Ray Tune: pip install 'ray[tune]>=2.9'.
"""

from __future__ import annotations

import math
import pickle
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ._outcomes import read_numbers
from ._space import Categorical, Float, Int, Parameter
from ._study import Study
from .errors import ExhaustedError, StudyError, TrialError

try:
    from ray.tune.search import UNDEFINED_METRIC_MODE, UNDEFINED_SEARCH_SPACE, Searcher, sample
    from ray.tune.search.variant_generator import parse_spec_vars
    from ray.tune.utils.util import flatten_dict, unflatten_dict
except ImportError as err:
    raise ImportError("functionspace_bo.ray needs Ray Tune: pip install 'ray[tune]>=2.9'") from err

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import Options

__all__ = ["FunctionSpaceSearch"]


class FunctionSpaceSearch(Searcher):  # type: ignore[misc,unused-ignore]
    """Suggests configurations by Bayesian optimisation.

    Trials that run at the same time are pending points. A trial with an error, or without a
    finite value of the metric, is a failed trial.

    Args:
        space: Search space of Tune; default param_space of the Tuner. Values that are not domains
            are constants. Grids are not supported.
        metric: Name of the number to optimise; default the metric of the Tuner.
        mode: min or max; default the mode of the Tuner.
        points_to_evaluate: Configurations to evaluate first.
        options: Options of the study by their names in the study file, such as seed, initial,
            noise_free, kernel and surrogate.
    """

    def __init__(
        self,
        space: Mapping[str, Any] | None = None,
        metric: str | None = None,
        mode: str | None = None,
        points_to_evaluate: Sequence[Mapping[str, Any]] | None = None,
        **options: Unpack[Options],
    ) -> None:
        if isinstance(metric, (list, tuple)) or isinstance(mode, (list, tuple)):
            raise ValueError("FunctionSpaceSearch is for one metric")
        wrong = sorted(set(options) & {"goal", "objectives"})
        if wrong:
            raise ValueError(f"{wrong[0]}: state metric and mode")
        super().__init__(metric=metric, mode=mode)
        self._options: dict[str, Any] = {**options}
        self._first = [dict(point) for point in points_to_evaluate or ()]
        self._axes: dict[str, _Axis] = {}
        self._constants: dict[str, Any] = {}
        self._study: Study | None = None
        self._numbers: dict[str, int] = {}  # of the trials of the study by the trials of Tune
        if space is not None:
            self._read(space)
        self._begin()

    def set_search_properties(
        self, metric: str | None, mode: str | None, config: Mapping[str, Any], **spec: Any
    ) -> bool:
        """Takes metric, mode and search space of the Tuner. False if the space is known."""
        if self._axes and config:
            return False
        if metric:
            self._metric = metric
        if mode:
            self._mode = mode
        if not self._axes:
            self._read(config)
        self._begin()
        return True

    def suggest(self, trial_id: str) -> dict[str, Any] | str | None:
        """Returns the configuration of a trial; FINISHED if every configuration has a trial."""
        name = type(self).__name__
        if not self._axes:
            raise RuntimeError(UNDEFINED_SEARCH_SPACE.format(cls=name, space="space"))
        if self._study is None:
            raise RuntimeError(
                UNDEFINED_METRIC_MODE.format(cls=name, metric=self._metric, mode=self._mode)
            )
        try:
            trial = self._study.ask()
        except ExhaustedError:
            return str(Searcher.FINISHED)
        self._numbers[trial_id] = trial.number
        values = {path: axis.decode(trial.params[path]) for path, axis in self._axes.items()}
        config: dict[str, Any] = unflatten_dict({**self._constants, **values})
        return config

    def on_trial_complete(
        self, trial_id: str, result: Mapping[str, Any] | None = None, error: bool = False
    ) -> None:
        """Records the metric of a finished trial, or its failure."""
        number = self._numbers.pop(trial_id, None)
        if number is None or self._study is None:
            return
        if error:
            self._study.fail(number, "the trial has an error")
            return
        try:
            self._study.tell(number, _number(result, self._metric))
        except TrialError as err:
            self._study.fail(number, str(err))

    def add_evaluated_point(
        self,
        parameters: Mapping[str, Any],
        value: float,
        error: bool = False,
        pruned: bool = False,
        intermediate_values: Sequence[float] | None = None,
    ) -> None:
        """Records a configuration that was evaluated elsewhere. Failed ones are left out."""
        if self._study is None:
            raise RuntimeError("add_evaluated_point: state space, metric and mode first")
        if not error and value is not None:
            self._study.add(self._encode(parameters), value)

    def get_state(self) -> dict[str, Any]:
        """Returns all data of the searcher."""
        return self.__dict__.copy()

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Sets all data of the searcher."""
        self.__dict__.update(state)

    def save(self, checkpoint_path: str) -> None:
        """Writes all data of the searcher to a file."""
        with open(checkpoint_path, "wb") as file:
            pickle.dump(self.get_state(), file)

    def restore(self, checkpoint_path: str) -> None:
        """Reads a file of save. Trials that were running then may still complete."""
        with open(checkpoint_path, "rb") as file:
            self.set_state(pickle.load(file))

    def _read(self, space: Mapping[str, Any]) -> None:
        """Reads a search space of Tune, whose dictionaries may be nested."""
        _, _, grids = parse_spec_vars(dict(space))
        if grids:
            raise StudyError(f"{'/'.join(grids[0][0])}: grid_search is not supported; use choice")
        flat = flatten_dict(dict(space), prevent_delimiter=True)
        _, domains, _ = parse_spec_vars(flat)
        self._axes = {"/".join(path): _axis("/".join(path), domain) for path, domain in domains}
        self._constants = {k: v for k, v in flat.items() if k not in self._axes}

    def _begin(self) -> None:
        """Starts the study when space, metric and mode are known."""
        if self._study is not None or not (self._axes and self._metric and self._mode):
            return
        self._study = Study(
            {path: axis.parameter for path, axis in self._axes.items()},
            **{**self._options, "goal": "maximize" if self._mode == "max" else "minimize"},
        )
        for point in self._first:
            self._study.enqueue(self._encode(point))

    def _encode(self, config: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the point of a configuration."""
        flat = flatten_dict(dict(config), prevent_delimiter=True)
        missing = sorted(set(self._axes) - set(flat))
        if missing:
            raise StudyError(f"{missing[0]} is missing in {dict(config)!r}")
        return {path: axis.encode(flat[path]) for path, axis in self._axes.items()}


@dataclass(frozen=True)
class _Axis:
    """A parameter that stands for a domain of Tune.

    Choices are the texts of their indices. Values of a domain with a step are multiples of it.
    """

    parameter: Parameter
    choices: Sequence[Any] | None = None
    step: float | None = None

    def encode(self, value: Any) -> Any:
        if self.choices is not None:
            return str(list(self.choices).index(value))
        return round(value / self.step) if self.step is not None else value

    def decode(self, value: Any) -> Any:
        if self.choices is not None:
            return self.choices[int(value)]
        if self.step is None:
            return value
        # 3 * 0.1 is 0.30000000000000004
        return (
            value * self.step if isinstance(self.step, int) else float(f"{value * self.step:.12g}")
        )


def _axis(path: str, domain: Any) -> _Axis:
    """Returns the parameter for a domain."""
    sampler = domain.get_sampler()
    step = None
    if isinstance(sampler, sample.Quantized):
        step, sampler = sampler.q, sampler.sampler
    log = isinstance(sampler, sample.LogUniform)
    if isinstance(domain, sample.Categorical) and isinstance(sampler, sample.Uniform):
        choices = list(domain.categories)
        if len(choices) == 1:
            raise StudyError(f"{path}: choice has one value; give the value itself")
        return _Axis(Categorical([str(i) for i in range(len(choices))]), choices=choices)
    if not log and not isinstance(sampler, sample.Uniform):
        raise StudyError(f"{path}: {domain} is not supported; use uniform, randint or choice")
    if isinstance(domain, sample.Integer):
        if step in (None, 1):
            high = domain.upper - (step is None)  # Tune excludes the bound if there is no step
            return _Axis(Int(domain.lower, high, log=log))
    elif step is None:
        return _Axis(Float(domain.lower, domain.upper, log=log))
    low, high = math.ceil(domain.lower / step - 1e-9), math.floor(domain.upper / step + 1e-9)
    return _Axis(Int(max(low, 1) if log else low, high, log=log), step=step)


def _number(result: Mapping[str, Any] | None, metric: str) -> float:
    """Returns the metric of a result, or raises TrialError."""
    if not result or metric not in result:
        raise TrialError(f"the result has no {metric}")
    return read_numbers(result[metric], [metric], [metric])[metric]
