"""Trials that report steps and are stopped early."""

from __future__ import annotations

import functools
import math
import os
import pickle
import signal
import sys
import threading
import time
import warnings
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import nullcontext
from functools import partial
from multiprocessing.connection import Client
from pathlib import Path
from typing import Any

import pytest

from functionspace_bo import (
    FailuresError,
    Float,
    NoValueError,
    ProcessError,
    Step,
    StoppedError,
    Study,
    Trial,
    TrialError,
    minimize,
)
from functionspace_bo._reporter import LocalReporter, Receiver
from functionspace_bo._run import takes_trial

X = {"x": Float(0, 1)}
MEDIAN: Any = {"stop": {"rule": "median", "startup": 3}}
HALVING: Any = {"stop": {"rule": "asha", "eta": 2}}


def train(params: dict[str, Any], trial: Trial) -> float:
    """Has a loss that falls to (x - 0.3)² over eight epochs."""
    loss = math.inf
    for epoch in range(1, 9):
        loss = (params["x"] - 0.3) ** 2 + 1 / epoch
        trial.report(epoch, loss)
        if trial.should_stop():
            break
    return float(loss)


def unstoppable(params: dict[str, Any], trial: Trial) -> float:
    loss = float((params["x"] - 0.3) ** 2)
    for epoch in range(1, 9):
        trial.report(epoch, loss + 1 / epoch)
    if trial.should_stop():
        raise RuntimeError("the result of a stopped trial does not count")
    return loss


@pytest.mark.parametrize(
    ("step", "value", "warns"),
    [(0.93, 5, True), (0.5, 0.93, False), (5, 0.93, False), (5.0, 3, False), (1, 0, False)],
)
def test_swapped_arguments_of_a_report_warn(step: Any, value: Any, warns: bool) -> None:
    with Study(X) as study, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        study.ask().report(step, value)
    assert ["the step comes first" in str(w.message) for w in caught] == [True] * warns
    assert all(w.filename == __file__ for w in caught)


@pytest.mark.parametrize("f", [train, unstoppable])
def test_minimize(f: Any) -> None:
    result = minimize(f, X, budget=20, **MEDIAN)
    states = [t.state for t in result.trials]
    assert set(states) == {"complete", "stopped"}
    assert len(states) == 20
    stopped = next(t for t in result.trials if t.state == "stopped")
    assert stopped.value is None
    assert stopped.message.startswith("step ")
    assert "worse than the median" in stopped.message
    assert stopped.numbers == {"value": stopped.steps[-1].value}
    complete = next(t for t in result.trials if t.state == "complete")
    assert [s.step for s in complete.steps] == list(range(1, 9))
    assert abs(result.best.params["x"] - 0.3) < 0.1


def test_functions_that_take_a_trial() -> None:
    class Objective:
        def __call__(self, params: dict[str, Any], *, trial: Trial) -> float:
            return 0.0

    def first(trial: dict[str, Any]) -> float:
        return 0.0

    assert takes_trial(train)
    assert takes_trial(partial(train))
    assert takes_trial(Objective())
    assert takes_trial(lambda p, trial=None: 0.0)
    assert not takes_trial(first)  # the parameters have this name
    assert not takes_trial(lambda p: 0.0)
    assert not takes_trial(lambda p, scale=2: 0.0)
    assert not takes_trial(lambda *args, **kwargs: 0.0)
    assert not takes_trial(max)


def test_functions_that_handle_a_trial_themselves() -> None:
    @functools.wraps(train)
    def alone(params: dict[str, Any]) -> float:
        return 0.0

    @functools.wraps(train)
    def passing(*args: Any, **kwargs: Any) -> float:
        return train(*args, **kwargs)

    assert not takes_trial(alone)
    assert takes_trial(passing)
    assert not takes_trial(partial(train, trial=None))  # type: ignore[arg-type]


def test_many_steps() -> None:
    with Study(X) as study:
        t = study.ask()
        for step in range(3000):
            t.report(step, 1.0)
        assert not t.report(7, 2.0)  # it was reported before
        assert len(study.trials[0].steps) == 3000
        assert len(pickle.loads(pickle.dumps(study)).trials[0].steps) == 3000


def test_ask_and_report() -> None:
    with Study(X, **HALVING) as study:
        one, two, three, four = study.ask(4)
        assert not one.report(1, 1.0)
        assert two.report(1, 2.0)
        assert two.should_stop()
        assert two.report(2, 0.0)  # it stays stopped
        assert study.trials[1].state == "stopped"
        assert study.trials[1].message == (
            "step 1: the value 2 is number 2 of 2 at rung 1, and the best 1 continue"
        )
        with pytest.raises(TrialError, match="trial 2 is stopped"):
            study.tell(two, 1.0)
        assert study.report(3, 1, math.nan)
        assert not one.report(1, 9.0)  # the step was reported before
        study.tell(one, 0.5)
        with pytest.raises(TrialError, match="trial 1 is complete"):
            one.report(2, 0.5)
        for step, value in ((math.nan, 1.0), ("1", 1.0), (1, "low"), (1, None)):
            with pytest.raises(TrialError):
                four.report(step, value)  # type: ignore[arg-type]
        with pytest.raises(TrialError, match="no such trial: 9"):
            study.report(9, 1, 1.0)
        with pytest.raises(TrialError, match=r"not being evaluated: use Study\.report"):
            study.trials[3].report(1, 1.0)
        assert study.trials[0].steps == (Step(1, 1.0),)
        assert study.ask().number == 5
        assert not three.should_stop()  # Study.report stopped it
        assert pickle.loads(pickle.dumps(one)) == one


def test_reports_without_a_rule_are_kept() -> None:
    with Study(X) as study:
        t = study.ask()
        assert not t.report(3, 0.5)
        assert study.trials[0].steps == (Step(3, 0.5),)
        assert study._decisions.process._running is None


@pytest.mark.parametrize("copy", ["save", "pickle"])
def test_steps_are_kept(copy: str, tmp_path: Path) -> None:
    with Study(X, **HALVING) as study:
        one, two = study.ask(2)
        one.report(1, 1.0)
        if copy == "save":
            study.save(tmp_path / "study.json")
            other = Study.load(tmp_path / "study.json")
        else:
            other = pickle.loads(pickle.dumps(study))
        with other:
            assert other.trials == study.trials
            assert other.report(two, 1, 2.0)
            assert study.report(two, 1, 2.0)
            assert other.trials[1].message == study.trials[1].message


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
def test_a_killed_process_loses_no_steps() -> None:
    with Study(X, **HALVING) as study:
        one, two = study.ask(2)
        one.report(1, 1.0)
        running = study._decisions.process._running
        assert running is not None
        os.kill(running._process.pid, signal.SIGKILL)
        running._process.wait()
        assert two.report(1, 2.0)


def test_reports_do_not_wait_for_a_fit() -> None:
    slow: Any = {"surrogate": {"name": "hmc", "draws": 100000, "warmup": 100000}, "initial": 2}
    with Study(X, **HALVING, **slow) as study:
        for t in study.ask(2):
            study.tell(t, t.params["x"])
        study.enqueue({"x": 0.5})
        t = study.ask()
        thread = threading.Thread(target=_ask, args=(study,), daemon=True)
        thread.start()
        time.sleep(0.5)
        t.report(1, 1.0)
        assert thread.is_alive()
        running = study._suggestions.process._running
        assert running is not None
        running._process.kill()
        thread.join(20)


def _ask(study: Study) -> None:
    with pytest.raises(ProcessError):
        study.ask()


@pytest.mark.parametrize("kind", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_executors(kind: Any) -> None:
    with kind(2) as pool:
        result = minimize(train, X, budget=16, executor=pool, **MEDIAN)
    states = [t.state for t in result.trials]
    assert states.count("complete") + states.count("stopped") == 16
    assert "stopped" in states
    assert all(t.steps for t in result.trials)


def broken(params: dict[str, Any], trial: Trial) -> float:
    trial.report(math.nan, 1.0)
    return 0.0


def test_faults_of_reports_in_other_processes() -> None:
    with (
        ProcessPoolExecutor(1) as pool,
        Study(X, failures="expected") as study,
        pytest.raises(NoValueError, match="step is not a usable number: nan"),
    ):
        study.run(broken, 2, executor=pool)


def unreadable(params: dict[str, Any], trial: Trial) -> float:
    trial.report(1, None)  # type: ignore[arg-type]
    return 0.0


def test_a_report_without_a_number_in_another_process() -> None:
    with (
        ProcessPoolExecutor(1) as pool,
        Study(X, failures="expected") as study,
        pytest.raises(NoValueError, match="TrialError: the value is None, want a number"),
    ):
        study.run(unreadable, 2, executor=pool)


def test_processes_that_end_or_hang_while_they_connect() -> None:
    with Study(X) as study:
        receiver = Receiver()
        trial = study.ask()
        assert isinstance(trial._reporter, LocalReporter)
        remote = receiver.reporter(trial.number, trial._reporter)
        hung = [Client(remote._address) for _ in range(3)]
        for _ in range(20):
            Client(remote._address).close()
        assert not remote.report(1, 0.5)
        assert study.trials[0].steps == (Step(1, 0.5),)
        for connection in hung:
            connection.close()
        receiver.close()


def test_a_receiver_ends_its_thread() -> None:
    before = set(threading.enumerate())
    receiver = Receiver()
    (thread,) = set(threading.enumerate()) - before
    receiver.close()
    thread.join(10)
    assert not thread.is_alive()


def test_a_fault_of_bo_reaches_another_process(monkeypatch: pytest.MonkeyPatch) -> None:
    def fault(*_: Any) -> bool:
        raise ProcessError("bo cannot be started")

    with Study(X) as study:
        receiver = Receiver()
        trial = study.ask()
        assert isinstance(trial._reporter, LocalReporter)
        remote = receiver.reporter(trial.number, trial._reporter)
        monkeypatch.setattr(study, "_report", fault)
        with pytest.raises(ProcessError, match="bo cannot be started"):
            remote.report(1, 0.5)
        receiver.close()


def test_a_copy_while_another_thread_tells() -> None:
    with Study(X) as study:
        trials = study.ask(200)
        thread = threading.Thread(target=lambda: [study.tell(t, 1.0) for t in trials])
        thread.start()
        while thread.is_alive():
            with pickle.loads(pickle.dumps(study)) as other:
                assert len(other.trials) == 200
        thread.join()


def test_an_interrupted_evaluation_reports_again() -> None:
    seen: list[Any] = []

    def f(params: dict[str, Any], trial: Trial) -> float:
        seen.append(trial)
        trial.report(1, len(seen))
        if len(seen) == 3:
            raise KeyboardInterrupt
        return float(params["x"])

    with Study(X, **MEDIAN) as study:
        assert study.run(f, 5).interrupted
        assert not study.trials[2].steps
        assert seen[2].should_stop()
        assert len(study.run(f, 5).trials) == 5
        assert list(study.trials[2].steps) == [Step(1, 4.0)]


def test_stored_studies(tmp_path: Path) -> None:
    study = Study.create(tmp_path / "bo.db", "demo", X, **HALVING)
    one, two, three = study.ask(3)
    assert not one.report(1, 1.0)
    assert two.report(1, 2.0)
    assert two.should_stop()
    other = Study.open(tmp_path / "bo.db", "demo")
    assert other.report(three.number, 1, math.nan)
    assert [t.state for t in other.trials] == ["pending", "stopped", "stopped"]
    assert "number 2 of 2 at rung 1" in other.trials[1].message
    assert not one.report(-2.5, math.inf)


def test_progress(capsys: pytest.CaptureFixture[str]) -> None:
    minimize(train, X, budget=20, progress=True, **MEDIAN)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 20
    assert any("  stopped at step " in line for line in lines)


@pytest.mark.parametrize("options", [MEDIAN, HALVING])
def test_fits_have_the_steps_of_stopped_trials(options: Any, tmp_path: Path) -> None:
    """A stopped trial enters fits by its rank at its last step, as in a stored study."""
    space = {"x": Float(0, 1), "y": Float(0, 1)}
    options = {**options, "budget": 14, "seed": 1}
    stored = Study.create(tmp_path / "bo.db", "bowl", space, **options)
    wanted = stored.run(train).trials
    with Study(space, **options) as study:
        study.run(train, 9)
        assert "stopped" in [t.state for t in study.trials]
        study.save(tmp_path / "study.json")
        got = study.run(train).trials
    loaded = Study.load(tmp_path / "study.json").run(train).trials
    for trials in (got, loaded):
        assert [t.params for t in trials] == [t.params for t in wanted]
        assert [t.state for t in trials] == [t.state for t in wanted]


def own(params: dict[str, Any], trial: Trial) -> float:
    """Has a rule of its own."""
    for epoch in (1, 2):
        trial.report(epoch, params["x"] + 1 / epoch)
        if params["x"] > 0.5:
            raise StoppedError("x is large" if params["x"] < 0.8 else "")
    return float(params["x"])


def test_a_function_stops_its_trial(tmp_path: Path) -> None:
    stored = Study.create(tmp_path / "bo.db", "own", X, budget=12, seed=3)
    wanted = stored.run(own).trials
    study = Study(X, budget=12, seed=3)
    with ProcessPoolExecutor(1) as pool:
        for trials in (wanted, minimize(own, X, budget=12, seed=3).trials):
            assert {t.state for t in trials} == {"complete", "stopped"}
            for t in trials:
                large = t.params["x"] > 0.5
                assert t.state == ("stopped" if large else "complete")
                if large:
                    reason = "x is large" if t.params["x"] < 0.8 else "a rule of the function"
                    assert t.message == f"step 1: {reason}"
                    assert t.numbers == {"value": t.params["x"] + 1}
            assert [t.params for t in trials] == [t.params for t in wanted]
        assert [t.state for t in study.run(own, executor=pool).trials] == [t.state for t in wanted]
    assert study.run(own).best.value == min(t.value for t in wanted if t.value is not None)


def diverging(params: dict[str, Any], trial: Trial) -> float:
    trial.report(1, params["x"])
    trial.report(2, math.nan)
    raise StoppedError("the loss is NaN")


def test_a_trial_that_diverges_has_no_number(tmp_path: Path) -> None:
    stored = Study.create(tmp_path / "bo.db", "own", X, budget=2)
    for study in (Study(X, budget=2), stored):
        with pytest.raises(NoValueError):
            study.run(diverging)
        assert [(t.state, t.numbers) for t in study.trials] == [("stopped", {})] * 2
        assert math.isnan(study.trials[0].steps[-1].value)


def test_a_stop_at_a_large_step() -> None:
    def f(params: dict[str, Any], trial: Trial) -> float:
        trial.report(12_345_678, 1)
        raise StoppedError("enough")

    with Study(X, budget=1) as study, pytest.raises(NoValueError):
        study.run(f)
    assert study.trials[0].message == "step 12345678: enough"


def never(params: dict[str, Any]) -> float:
    raise StoppedError("not now")


@pytest.mark.parametrize("options", [{}, {"objectives": ["a", "b"]}])
def test_a_trial_that_cannot_be_stopped_fails(options: Any, tmp_path: Path) -> None:
    stored = Study.create(tmp_path / "bo.db", "own", X, budget=2, failures="expected", **options)
    for study in (Study(X, budget=2, failures="expected", **options), stored):
        with pytest.raises(NoValueError):
            study.run(never)
        message = "the trial is stopped: not now"
        message += " (only a trial of one objective is stopped, after a reported step)"
        assert [(t.state, t.message) for t in study.trials] == [("failed", message)] * 2


def unreported(params: dict[str, Any], trial: Trial) -> float:
    raise StoppedError("not now")


@pytest.mark.parametrize("pool", [False, True])
@pytest.mark.parametrize("stored", [False, True])
def test_a_stopped_error_without_a_report(stored: bool, pool: bool, tmp_path: Path) -> None:
    study: Any = Study(X)
    if stored:
        study = Study.create(tmp_path / "bo.db", "own", X)
    with (
        ProcessPoolExecutor(1) if pool else nullcontext() as executor,
        pytest.raises(FailuresError, match="alike: the trial is stopped: not now") as caught,
    ):
        study.run(unreported, executor=executor)
    assert type(caught.value.__cause__) is StoppedError
    assert [t.state for t in study.trials[:3]] == ["failed"] * 3
