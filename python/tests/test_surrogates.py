from __future__ import annotations

import csv
import gc
import io
import json
import os
import pickle
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from functionspace_bo import ProcessError, RequestError
from functionspace_bo._binary import find_binary

np = pytest.importorskip("numpy")
pytest.importorskip("sklearn", minversion="1.6")

from sklearn.base import clone  # noqa: E402
from sklearn.model_selection import GridSearchCV  # noqa: E402
from sklearn.utils.estimator_checks import parametrize_with_checks  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import generate  # noqa: E402
from functionspace_bo import _estimator, surrogates  # noqa: E402
from functionspace_bo.surrogates import (  # noqa: E402
    FSPLaplace,
    GaussianProcess,
    GaussianProcessClassifier,
)

RNG = np.random.default_rng(0)
X = RNG.uniform(size=(20, 2))
Y = np.sin(4 * X[:, 0]) + X[:, 1]
AT = np.array([[0.2, 0.3], [0.7, 0.8], [0.5, 0.1]])


def test_generated_file_is_up_to_date() -> None:
    text = generate.surrogates(json.loads(generate.SCHEMA.read_text()))
    assert generate.SURROGATES.read_text() == text, "run python python/generate.py"


SMALL: dict[str, Any] = {
    "hidden": [8],
    "steps": 60,
    "context": 20,
    "members": 2,
    "samples": 8,
    "draws": 20,
    "warmup": 20,
    "chains": 1,
    "inducing": 10,
    "functions": 10,
    "batch": 20,
    "restarts": 1,
}

# Checks that do not apply, with the reason.
SKIPPED: dict[str, dict[str, str]] = {}


def small(kind: Any) -> Any:
    """Returns an estimator with settings that make fits cheap."""
    names = kind().get_params()
    return kind(**{name: value for name, value in SMALL.items() if name in names})


@parametrize_with_checks(  # type: ignore[untyped-decorator,unused-ignore]
    [small(getattr(surrogates, name)) for name in surrogates.__all__],
    expected_failed_checks=lambda estimator: SKIPPED.get(type(estimator).__name__, {}),
)
def test_sklearn(estimator: Any, check: Any) -> None:
    check(estimator)


def test_predictions_equal_those_of_the_command(tmp_path: Path) -> None:
    def write(name: str, header: str, rows: Any) -> str:
        path = tmp_path / name
        lines = [",".join(repr(float(v)) for v in row) for row in rows]
        path.write_text("\n".join([header, *lines]) + "\n")
        return str(path)

    train = write("train.csv", "a,b,y", np.column_stack([X, Y]))
    at = write("at.csv", "a,b", AT)
    done = subprocess.run(
        [find_binary(), "predict", "--train", train, "--at", at, "--set", "kernel=rbf"],
        capture_output=True,
        text=True,
        check=True,
    )
    want = list(csv.DictReader(io.StringIO(done.stdout)))
    model = GaussianProcess(kernel="rbf").fit(X, Y)
    mean, sd = model.predict(AT, return_std=True)
    assert mean.tolist() == [float(row["mean"]) for row in want]
    assert sd.tolist() == [float(row["sd"]) for row in want]
    assert model.noise_std(AT) == float(want[0]["noise_sd"])


def test_standard_errors_equal_those_of_the_command(tmp_path: Path) -> None:
    errors = np.where(np.arange(len(Y)) % 3 == 0, np.nan, 0.1 + 0.05 * np.arange(len(Y)))
    train = tmp_path / "train.csv"
    lines = [
        f"{a!r},{b!r},{y!r},{'' if np.isnan(e) else repr(e)}"
        for (a, b), y, e in zip(X.tolist(), Y.tolist(), errors.tolist(), strict=True)
    ]
    train.write_text("\n".join(["a,b,y,se", *lines]) + "\n")
    at = tmp_path / "at.csv"
    at.write_text("\n".join(["a,b", *(f"{a!r},{b!r}" for a, b in AT.tolist())]) + "\n")
    flags = ["--train", str(train), "--at", str(at), "--target", "y", "--standard-error", "se"]
    done = subprocess.run(
        [find_binary(), "predict", *flags], capture_output=True, text=True, check=True
    )
    want = list(csv.DictReader(io.StringIO(done.stdout)))
    model = GaussianProcess().fit(X, Y, standard_error=errors)
    assert model.predict(AT).tolist() == [float(row["mean"]) for row in want]
    assert model.predict(AT).tolist() != GaussianProcess().fit(X, Y).predict(AT).tolist()
    assert model.noise_std(AT) == pytest.approx(np.nanmedian(errors), rel=0.2)
    with pytest.raises(RequestError, match="standard_error has the shape"):
        model.fit(X, Y, standard_error=errors[1:])
    with pytest.raises(RequestError, match="standard error 1 is -1, want a number of at least 0"):
        model.fit(X, Y, standard_error=-np.ones(len(Y)))
    with pytest.raises(RequestError, match="surrogate svgp takes one noise for all targets"):
        surrogates.SVGP().fit(X, Y, standard_error=errors)


def test_joint_predictions() -> None:
    model = GaussianProcess(noise_free=True).fit(X, Y)
    mean, cov = model.predict(AT, return_cov=True)
    _, sd = model.predict(AT, return_std=True)
    np.testing.assert_allclose(np.sqrt(np.diag(cov)), sd, rtol=1e-6)
    samples = model.sample_y(AT, n_samples=2000, random_state=3)
    assert samples.shape == (3, 2000)
    np.testing.assert_allclose(samples.mean(axis=1), mean, atol=5 * sd.max() / 40)
    np.testing.assert_array_equal(samples[:, :7], model.sample_y(AT, 7, random_state=3))
    with pytest.raises(RequestError):
        model.predict(AT, return_std=True, return_cov=True)
    assert set(model.hyperparameters_) >= {"variance"}


def test_labels() -> None:
    labels = np.where(Y > 1, "high", "low")
    model = GaussianProcessClassifier().fit(X, labels)
    assert model.classes_.tolist() == ["high", "low"]
    p = model.predict_proba(AT)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert model.score(X, labels) > 0.9


def test_faults() -> None:
    with pytest.raises(RequestError, match="did you mean rbf"):
        GaussianProcess(kernel="rbff").fit(X, Y)
    with pytest.raises(RequestError, match="min has 1 numbers"):
        GaussianProcess(bounds=[(0, 1)]).fit(X, Y)


def test_settings() -> None:
    model = FSPLaplace(hidden=(8, 4), context=20, covariance_context=30, isotropic=True)
    settings = model._settings()
    assert settings["covariance-context"] == 30
    assert _estimator._text(settings["hidden"]) == "8,4"
    model.fit(X, Y)
    assert model.predict(AT).shape == (3,)
    assert clone(model).get_params() == model.get_params()
    assert model.set_params(context=30).context == 30


def test_a_setting_with_the_name_of_a_method_has_a_suffix() -> None:
    model = small(surrogates.FVI).set_params(score_setting="plain")
    assert model._settings()["score"] == "plain"
    assert np.isfinite(model.fit(X, Y).score(X, Y))


def test_every_estimator_has_the_settings_of_its_model() -> None:
    for name in surrogates.__all__:
        kind = getattr(surrogates, name)
        listed = subprocess.run(
            [find_binary(), "describe", "surrogate", kind._name],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for key in kind()._settings():
            assert f"\n{key} " in listed


def test_grid_search_and_pickle() -> None:
    grid = GridSearchCV(GaussianProcess(), {"kernel": ["rbf", "linear"]}, cv=2).fit(X, Y)
    assert grid.best_params_["kernel"] == "rbf"
    model = grid.best_estimator_
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict(AT), model.predict(AT))


def test_a_killed_process_is_replaced() -> None:
    model = GaussianProcess().fit(X, Y)
    want = model.predict(AT)
    running = _estimator._server._process._running
    assert running is not None
    os.kill(running._process.pid, signal.SIGKILL)
    with pytest.raises(ProcessError, match="SIGKILL"):
        model.predict(AT)
    np.testing.assert_array_equal(model.predict(AT), want)


def test_models_that_are_collected_are_dropped() -> None:
    model = GaussianProcess().fit(X, Y)
    assert model._model is not None
    number = model._model.number
    del model
    gc.collect()
    assert number in _estimator._server._dropped
    GaussianProcess().fit(X, Y)
    assert number not in _estimator._server._dropped


def test_a_model_keeps_its_data() -> None:
    x = X.copy()
    model = GaussianProcess().fit(x, Y)
    before = model.predict(AT)
    x *= 10
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(AT), before)


def test_random_states() -> None:
    model = GaussianProcess(random_state=np.random.RandomState(0)).fit(X, Y)
    assert model.sample_y(AT, np.int64(2), random_state=None).shape == (3, 2)
    assert model.sample_y(AT, 2, random_state=np.random.default_rng(0)).shape == (3, 2)
    with pytest.raises(RequestError, match="random_state is -1, want a whole number, 0 or more"):
        model.sample_y(AT, 2, random_state=-1)
    with pytest.raises(RequestError, match="n_samples is 0, want a whole number, 1 or more"):
        model.sample_y(AT, 0)


def test_whole_numbers_are_floats() -> None:
    model = GaussianProcess().fit(X, np.full(20, 2.0))
    assert model.predict(AT).dtype == np.float64
    assert model.sample_y(AT).dtype == np.float64
