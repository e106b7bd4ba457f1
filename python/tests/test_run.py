from __future__ import annotations

import _thread
import io
import logging
import math
import threading
import time
import weakref
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from functionspace_bo import (
    BoError,
    FailuresError,
    Float,
    Int,
    NoValueError,
    Study,
    StudyError,
    Trial,
    minimize,
)

X = {"x": Float(0, 1)}


def bowl(params: dict[str, Any]) -> float:
    return float((params["x"] - 0.3) ** 2)


def test_minimize() -> None:
    result = minimize(bowl, X, budget=15, noise_free=True)
    assert len(result.trials) == 15
    assert result.value < 1e-3
    assert result.params == result.best.params
    assert abs(result.best.params["x"] - 0.3) < 0.05
    assert result.incumbents[-1] == result.best
    assert result.recommendation is not None
    assert result.recommendation.model.trial == result.best
    assert not result.interrupted
    assert result.stopped == ""


def test_maximize_and_named_numbers() -> None:
    result = minimize(
        lambda p: {"gain": -bowl(p), "cost": 3},
        X,
        budget=10,
        objectives=[{"name": "gain", "goal": "maximize"}],
    )
    assert result.goal == "maximize"
    assert result.value == max(t.value for t in result.trials if t.value is not None)
    assert result.best.numbers["cost"] == 3


def test_exceptions_are_failed_trials() -> None:
    def f(params: dict[str, Any]) -> float:
        if params["x"] > 0.5:
            raise ValueError(f"too large:\n{params['x']}")
        return float(params["x"])

    result = minimize(f, X, budget=12)
    failed = [t for t in result.trials if t.state == "failed"]
    assert failed
    assert failed[0].message == f"ValueError: too large:; {failed[0].params['x']}"
    assert len(result.trials) == 12


def test_values_that_are_not_finite_are_failed_trials() -> None:
    values = iter([1.0, float("nan"), None, 2.0, 3.0, 4.0])
    result = minimize(lambda _: next(values), X, budget=6)
    assert [t.state for t in result.trials[:3]] == ["complete", "failed", "failed"]
    assert "not a usable number" in result.trials[1].message
    assert "the value is None, want a number" in result.trials[2].message


def test_first_trials_that_fail_alike_end_the_run() -> None:
    def f(p: dict[str, Any]) -> float:
        raise KeyError(f"weights of {p['x']}")

    with pytest.raises(FailuresError, match="the first 3 failed alike: KeyError: 'weights of") as e:
        minimize(f, X, budget=20)
    assert e.value.result is not None
    assert sum(t.state == "failed" for t in e.value.result.trials) == 3
    with pytest.raises(NoValueError, match="all 7 evaluations failed"):
        minimize(f, X, budget=7, failures="expected")


def test_max_failures() -> None:
    calls = iter(range(100))

    def f(_: dict[str, Any]) -> float:
        call = next(calls)
        if call > 0:
            raise RuntimeError(str(call))
        return 1.0

    with pytest.raises(FailuresError, match="too many trials failed: 3"):
        minimize(f, X, budget=20, max_failures=2)
    with pytest.raises(StudyError, match="max_failures is -1, want 0 or more"):
        minimize(f, X, budget=20, max_failures=-1)
    with pytest.raises(FailuresError, match="too many trials failed: 1") as e:
        minimize(f, X, budget=20, max_failures=0)
    assert isinstance(e.value.__cause__, RuntimeError)


def test_failures_have_a_traceback(caplog: pytest.LogCaptureFixture) -> None:
    kept: list[weakref.ref[Any]] = []

    class Data:
        pass

    def f(_: dict[str, Any]) -> float:
        data = Data()
        alive = [ref for ref in kept if ref() is not None]
        kept.append(weakref.ref(data))
        if len(kept) in (1, 3):
            raise KeyError(f"weights {len(alive)}")
        return math.nan if len(kept) == 2 else 1.0

    with caplog.at_level(logging.INFO, logger="functionspace_bo"):
        result = minimize(f, X, budget=4)
    assert result.warnings[0].startswith("3 of 4 evaluations failed, the first one with: KeyError")
    assert "weights 0" in result.trials[2].message  # the data of the first trial are not kept
    assert [r.levelname for r in caplog.records] == ["WARNING"] * 3
    assert "in f\n" in caplog.text
    caplog.clear()
    kept.clear()
    with caplog.at_level(logging.INFO, logger="functionspace_bo"):
        result = minimize(f, X, budget=4, failures="expected")
    assert result.warnings == []
    assert [r.levelname for r in caplog.records] == ["INFO"] * 3
    with pytest.raises(NoValueError, match="all 1 evaluations failed") as e:
        minimize(lambda p: p["z"], X, budget=1)
    assert isinstance(e.value.__cause__, KeyError)


def test_the_error_without_a_value_counts_stopped_trials() -> None:
    steps: list[int] = []

    def f(p: dict[str, Any], trial: Trial) -> float:
        steps.append(len(steps))
        trial.report(1, steps[-1])
        raise MemoryError("no memory left")

    with pytest.raises(NoValueError, match="of 3 evaluations 2 were stopped early, and the others"):
        minimize(f, X, budget=3, stop={"rule": "asha", "eta": 2})


def test_target_time_and_callback() -> None:
    result = minimize(bowl, X, budget=30, target=0.05)
    assert "the target is reached" in result.stopped
    assert len([t for t in result.trials if t.state == "complete"]) < 30

    def slow(params: dict[str, Any]) -> float:
        time.sleep(0.1)
        return bowl(params)

    result = minimize(slow, X, budget=1000, time=0.5)
    assert "the time is used up" in result.stopped
    assert result.value >= 0

    seen: list[Trial] = []

    def callback(study: Study, trial: Trial) -> bool:
        seen.append(trial)
        return len(seen) == 3

    result = minimize(bowl, X, budget=30, callback=callback)
    assert result.stopped == "the callback ended the run"
    assert [t.number for t in seen] == [1, 2, 3]


@pytest.mark.parametrize("workers", [1, 2])
def test_trials_that_did_not_start_are_not_in_the_result(workers: int) -> None:
    with Study(X, batch=4) as study:
        result = study.run(bowl, 8, workers=workers, callback=lambda _, t: t.number == 1)
        assert len(result.trials) <= workers
        assert len(study.trials) == 4
        assert [t.number for t in study.run(bowl, 4).trials] == [1, 2, 3, 4]


def test_finite_space_ends_early() -> None:
    result = minimize(lambda p: p["n"], {"n": Int(1, 5)}, budget=30, noise_free=True)
    assert len(result.trials) == 5
    assert "every point of the space" in result.stopped
    result = minimize(lambda p: p["n"], {"n": Int(1, 5)}, budget=9, noise_free=True, workers=3)
    assert len(result.trials) == 5


class Gauge:
    """Counts evaluations at a time."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.now = self.most = 0

    def __call__(self, params: dict[str, Any]) -> float:
        with self.lock:
            self.now += 1
            self.most = max(self.most, self.now)
        time.sleep(0.05)
        with self.lock:
            self.now -= 1
        return bowl(params)


def test_workers_without_a_batch() -> None:
    gauge = Gauge()
    result = minimize(gauge, X, budget=16, workers=4)
    assert gauge.most == 4
    assert len(result.trials) == 16
    assert all(t.state == "complete" for t in result.trials)


def test_a_batch_does_not_depend_on_workers() -> None:
    gauge = Gauge()
    a = minimize(bowl, X, budget=16, batch=4)
    b = minimize(gauge, X, budget=16, batch=4, workers=3)
    assert [t.params for t in a.trials] == [t.params for t in b.trials]
    assert 1 < gauge.most <= 3


def test_executors() -> None:
    with ThreadPoolExecutor(2) as pool:
        assert len(minimize(bowl, X, budget=8, executor=pool).trials) == 8
    with ProcessPoolExecutor(2) as pool:
        result = minimize(bowl, X, budget=8, executor=pool)
    assert len(result.trials) == 8
    assert result.best.seconds > 0


class Unsized(Executor):
    """An executor without a known number of workers, as the executor of a Dask client."""

    def __init__(self, pool: Executor) -> None:
        self._pool = pool

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        return self._pool.submit(fn, *args, **kwargs)


def test_an_executor_of_unknown_size_needs_workers(caplog: pytest.LogCaptureFixture) -> None:
    with ThreadPoolExecutor(2) as pool:
        minimize(bowl, X, budget=3, executor=pool)
        minimize(bowl, X, budget=3, executor=Unsized(pool), workers=2)
        assert caplog.text == ""
        minimize(bowl, X, budget=3, executor=Unsized(pool))
    assert "the executor Unsized has no known number of workers: state workers" in caplog.text


@pytest.mark.parametrize("workers", [1, 2])
def test_an_executor_has_the_method_submit(workers: int) -> None:
    four: Any = 4
    with pytest.raises(TypeError, match="executor is 4, want an executor with the method submit"):
        minimize(bowl, X, budget=3, executor=four, workers=workers)


def test_a_run_without_a_trial_says_so(caplog: pytest.LogCaptureFixture) -> None:
    with Study(X, initial=2) as study:
        study.add({"x": 0.5}, 1)
        study.run(bowl, 3)
        assert caplog.text == ""
        assert len(study.run(bowl, 3).trials) == 4
        assert "the budget is 3, and the study has 3 finished trials" in caplog.text


def lock(_: dict[str, Any]) -> Any:
    return threading.Lock()


def no_pickle(_: dict[str, Any]) -> float:
    raise TypeError("cannot pickle the model")


@pytest.mark.parametrize("options", [{}, {"failures": "expected"}])
def test_what_cannot_be_pickled_ends_a_run(options: dict[str, Any]) -> None:
    for f in (lambda _: 1.0, partial(pow, threading.Lock()), lock):
        with ProcessPoolExecutor(2) as pool, pytest.raises(FailuresError) as caught:
            minimize(f, X, budget=20, executor=Unsized(pool), workers=2, **options)
        assert "picklable: define the function at the top level" in str(caught.value)
        assert caught.value.__cause__ is not None
        assert caught.value.result is not None
        assert len(caught.value.result.trials) <= 4
    with ProcessPoolExecutor(2) as pool, pytest.raises(NoValueError, match="the model"):
        minimize(no_pickle, X, budget=2, executor=pool)


def test_a_function_for_processes_is_checked_before_the_first_trial(
    caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    stored = Study.create(tmp_path / "bo.db", "demo", X, budget=4)
    for f in (lambda _: 1.0, partial(pow, threading.Lock())):
        with ProcessPoolExecutor(2) as pool, Study(X) as study:
            for run in (study.run, stored.run):
                with pytest.raises(TypeError, match=r"^f is .* cannot be pickled") as caught:
                    run(f, executor=pool)
                assert "define the function at the top level of a module, or state" in str(
                    caught.value
                )
                assert caught.value.__cause__ is None
                assert caught.value.__suppress_context__
            assert study.trials == stored.trials == []
    with ProcessPoolExecutor(2) as pool, pytest.raises(FailuresError):
        minimize(lock, X, budget=20, executor=pool)
    assert "Traceback" not in caplog.text


def test_coroutine_functions() -> None:
    async def f(params: dict[str, Any]) -> float:
        return bowl(params)

    with pytest.raises(TypeError, match="f is a coroutine function, want a function that"):
        minimize(f, X)  # type: ignore[arg-type]


@pytest.mark.parametrize("workers", [1, 3])
def test_ctrl_c_keeps_results(workers: int) -> None:
    done: list[dict[str, Any]] = []
    once = threading.Lock()

    def f(params: dict[str, Any]) -> float:
        if len(done) >= 5 and once.acquire(blocking=False):
            _thread.interrupt_main()
            time.sleep(0.3 if workers == 1 else 3)
        done.append(params)
        return bowl(params)

    started = time.monotonic()
    with Study(X) as study:
        result = study.run(f, 20, workers=workers)
        assert result.interrupted
        assert result.best.value is not None
        complete = [t for t in result.trials if t.state == "complete"]
        assert 4 <= len(complete) <= 8
        assert time.monotonic() - started < 15
        done.extend([{}] * 5)
        again = study.run(bowl, 10)
        assert sum(t.state == "complete" for t in again.trials) == 10


def test_an_error_of_bo_carries_the_result() -> None:
    def f(params: dict[str, Any]) -> float:
        if len(study.trials) == 6:
            assert study._suggestions.process._running is not None
            study._suggestions.process._running._process.kill()
            time.sleep(0.2)
        return bowl(params)

    study = Study(X)
    with pytest.raises(BoError, match=r"SIGKILL.*all told results are kept") as caught:
        study.run(f, 20)
    assert caught.value.result is not None
    assert sum(t.state == "complete" for t in caught.value.result.trials) == 6
    assert len(study.run(bowl, 10).trials) == 10


def test_arguments() -> None:
    with pytest.raises(StudyError, match="timeout is for programs: time ends the run"):
        minimize(bowl, X, timeout="9s")
    with pytest.raises(StudyError, match="command is for programs"):
        minimize(bowl, X, command="prog")
    with Study(X) as study, pytest.raises(StudyError, match="workers is 0"):
        study.run(bowl, workers=0)


def test_progress(capsys: pytest.CaptureFixture[str]) -> None:
    minimize(bowl, X, budget=5)
    assert capsys.readouterr().err == ""
    minimize(bowl, X, budget=5, progress=True)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("trial 1/5  value ")
    assert len(lines) == 5


def test_progress_of_a_study_that_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = io.StringIO()
    terminal.isatty = lambda: True  # type: ignore[method-assign]
    with Study(X) as study:
        study.run(lambda p: p["x"], budget=6, progress=False)
        monkeypatch.setattr("sys.stderr", terminal)
        study.run(lambda p: p["x"] + 1, budget=8)
    text = terminal.getvalue()
    assert "7/8 trials   best " in text
    assert f"(trial {study.best.number})   1 running" in text
    assert "8/8 trials" in text
    assert "value" not in text  # no trial of this run is an improvement


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"budget": math.nan}, "budget is nan, want a whole number, 1 or more"),
        ({"budget": "3"}, "budget is '3', want a whole number"),
        ({"workers": 1.5}, "workers is 1.5, want a whole number"),
        ({"time": "1h"}, "time is '1h', want a finite number of seconds"),
        ({"time": -1}, "time is -1, want a finite number of seconds, 0 or more"),
        ({"time": True}, "time is True, want a finite number of seconds, 0 or more"),
        ({"target": True}, "target is True, want a finite number"),
        ({"target": math.nan}, "target is nan, want a finite number"),
        ({"target": "0.1"}, "target is '0.1', want a finite number"),
    ],
)
def test_invalid_arguments(arguments: Any, text: str) -> None:
    with Study(X) as study, pytest.raises(StudyError, match=text):
        study.run(bowl, **arguments)
