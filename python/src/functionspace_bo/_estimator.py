"""Estimators in the convention of scikit-learn, over `bo predict --pipe`."""

from __future__ import annotations

import itertools
import operator
import threading
import weakref
from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from ._process import Process, on_fork
from .errors import BoError, RequestError

try:
    import numpy as np
    from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError as err:
    raise ImportError(
        "functionspace_bo.surrogates needs NumPy and scikit-learn 1.6: "
        "pip install 'scikit-learn>=1.6'"
    ) from err

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

_OWN = ("inputs", "outputs", "noise_free", "bounds", "random_state")


class _Server:
    """The process that holds the fitted models of this Python process."""

    def __init__(self) -> None:
        self._process = Process("predict", "--pipe")
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._dropped: deque[int] = deque()
        self._generation = 0  # changes when the process lost its models
        on_fork(self)

    def fit(self, request: dict[str, Any]) -> tuple[dict[str, Any], int]:
        """Returns the answer to a request, and the generation of the process."""
        with self._lock:
            self._start()
            return self._ask(request), self._generation

    def ask(self, request: dict[str, Any], generation: int) -> dict[str, Any] | None:
        """Returns the answer about a model, or None if its process was replaced."""
        with self._lock:
            self._start()
            return self._ask(request) if generation == self._generation else None

    def _start(self) -> None:
        if self._process.start():
            self._generation += 1

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        drop = [self._dropped.popleft() for _ in range(len(self._dropped))]
        return self._process.ask({**request, "drop": drop})

    def new(self) -> int:
        """Returns the number of a new model."""
        return next(self._numbers)

    def drop(self, number: int) -> None:
        """Drops a model with the next request. Takes no lock: the garbage collector calls it."""
        self._dropped.append(number)

    def _after_fork(self) -> None:
        self._lock = threading.Lock()


_server = _Server()


class _Model:
    """A model that the server has fitted. The server drops it when this object is deleted."""

    def __init__(self, fit: dict[str, Any]) -> None:
        self.number = _server.new()
        plain = {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in fit.items()}
        request = {"action": "fit", "model": self.number, **plain}
        self.answer, self.generation = _server.fit(request)
        weakref.finalize(self, _server.drop, self.number).atexit = False


class Surrogate(BaseEstimator):  # type: ignore[misc]
    """Base class of all estimators: the settings, the fit and the fitted model."""

    _name: ClassVar[str]
    _model: _Model | None = None

    def _fit(self, targets: dict[str, Any], x: Any) -> None:
        """Fits the surrogate model to the rows of x."""
        self._request = {
            "surrogate": self._name,
            "set": [f"{key}={_text(v)}" for key, v in self._settings().items()],
            "x": np.array(x),  # a copy: the model may be fitted again
            "seed": seed_of(self.random_state),
            "inputs": self.inputs,
            **targets,
        }
        if self.bounds is not None:
            low, high = np.array(self.bounds, dtype=float).T
            self._request.update(min=low, max=high)
        self._model = _Model(self._request)
        answer = self._model.answer
        self.hyperparameters_: dict[str, float] = answer.get("hyperparameters", {})
        self.warnings_: list[str] = answer.get("warnings", [])

    def _settings(self) -> dict[str, Any]:
        """Returns the settings of the surrogate model that are not at their default."""
        parameters: dict[str, Any] = self.get_params(deep=False)
        return {
            name.removesuffix("_setting").replace("_", "-"): value
            for name, value in parameters.items()
            if name not in _OWN and value is not None
        }

    def _ask(self, action: str, x: Any, **request: Any) -> dict[str, Any]:
        """Returns the answer about points. A model that was lost is fitted again."""
        check_is_fitted(self)
        points = validate_data(self, x, reset=False, dtype=np.float64)
        request.update(action=action, x=points.tolist())
        for _ in range(2):
            if self._model is None:
                self._model = _Model(self._request)
            model = self._model
            answer = _server.ask({"model": model.number, **request}, model.generation)
            if answer is not None:
                return answer
            self._model = None
        raise BoError("the bo process ends again and again")

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_request")

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = dict(super().__getstate__())
        state.pop("_model", None)
        return state


class Regressor(RegressorMixin, Surrogate):  # type: ignore[misc]
    """A surrogate model of numbers with Gaussian noise."""

    def fit(
        self,
        X: ArrayLike,  # noqa: N803
        y: ArrayLike,
        standard_error: ArrayLike | None = None,
    ) -> Regressor:
        """Fits the surrogate model to the rows of X and the targets y.

        standard_error has the standard deviation of the noise of each target, NaN where it is not
        known. Only GaussianProcess takes it.
        """
        x, targets = validate_data(
            self, X, y, dtype=np.float64, y_numeric=True, ensure_min_samples=1
        )
        request = {
            "y": targets.astype(np.float64),
            "outputs": self.outputs,
            "noise_free": bool(self.noise_free),
        }
        if standard_error is not None:
            errors = np.asarray(standard_error, dtype=np.float64)
            if errors.shape != targets.shape:
                raise RequestError(
                    f"standard_error has the shape {errors.shape}, and y has {targets.shape}"
                )
            request["standard_errors"] = [None if np.isnan(e) else e for e in errors.tolist()]
        self._fit(request, x)
        return self

    def predict(
        self,
        X: ArrayLike,  # noqa: N803
        return_std: bool = False,
        return_cov: bool = False,
    ) -> Any:
        """Returns the posterior mean of the function at the rows of X.

        With return_std also its standard deviation, with return_cov its covariance. Neither
        includes the noise of observations; noise_std returns that.
        """
        if return_std and return_cov:
            raise RequestError("return_std and return_cov: at most one can be true")
        answer = self._ask("predict", X, covariance=return_cov)
        mean = _floats(answer["mean"])
        if return_cov:
            return mean, _floats(answer["covariance"])
        return (mean, _floats(answer["sd"])) if return_std else mean

    def noise_std(self, X: ArrayLike) -> float:  # noqa: N803
        """Returns the standard deviation of the noise of an observation at the rows of X."""
        return float(self._ask("predict", X)["noise_sd"])

    def sample_y(
        self,
        X: ArrayLike,  # noqa: N803
        n_samples: int = 1,
        random_state: Any = 0,
    ) -> NDArray[np.float64]:
        """Returns joint posterior samples of the function, a column for each sample."""
        n = _whole(n_samples, "n_samples", 1)
        answer = self._ask("sample", X, n=n, seed=seed_of(random_state))
        return _floats(answer["samples"]).T


class Classifier(ClassifierMixin, Surrogate):  # type: ignore[misc]
    """A surrogate model of labels."""

    def fit(self, X: ArrayLike, y: ArrayLike) -> Classifier:  # noqa: N803
        """Fits the surrogate model to the rows of X and the labels y."""
        x, labels = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(labels)
        self.classes_, indices = np.unique(labels, return_inverse=True)
        if len(self.classes_) < 2:
            raise RequestError(f"y has the one class {self.classes_[0]!r}, want two or more")
        self._fit({"labels": indices, "classes": len(self.classes_)}, x)
        return self

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:  # noqa: N803
        """Returns the probability of each class at the rows of X."""
        return _floats(self._ask("predict", X)["probabilities"])

    def predict(self, X: ArrayLike) -> Any:  # noqa: N803
        """Returns the most probable class at the rows of X."""
        probabilities = self.predict_proba(X)
        return self.classes_[np.argmax(probabilities, axis=1)]


def _floats(numbers: Any) -> NDArray[np.float64]:
    """Returns numbers of an answer, in which whole ones have no decimal point."""
    return np.array(numbers, dtype=np.float64)


def seed_of(random_state: Any) -> int:
    """Returns the seed of a random state in the convention of scikit-learn; None is seed 0."""
    if random_state is None:
        return 0
    if isinstance(random_state, (np.random.RandomState, np.random.Generator)):
        return int(random_state.bytes(4).hex(), 16)
    return _whole(random_state, "random_state", 0)


def _whole(number: Any, name: str, least: int) -> int:
    """Returns a whole number, or raises RequestError."""
    try:
        value = operator.index(number)
    except TypeError:
        value = least - 1
    if not least <= value < 2**63:
        raise RequestError(f"{name} is {number!r}, want a whole number, {least} or more")
    return value


def _text(value: Any) -> str:
    """Returns a value in the syntax of bo --set."""
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value)).lower()
    if isinstance(value, str):
        return value
    if isinstance(value, (Sequence, np.ndarray)):
        return ",".join(_text(v) for v in value)
    return repr(value.item() if isinstance(value, np.generic) else value)
