"""Study.run of a stored study: one process, several, and processes that end."""

import multiprocessing
import os
import re
import signal
import subprocess
import sys
import threading
import time
import weakref
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from functionspace_bo import (
    FailuresError,
    Float,
    Int,
    NoValueError,
    ProcessError,
    Study,
    StudyError,
    Trial,
    TrialError,
)
from functionspace_bo._stored_run import StoredRun

SPACE = {"x": Float(0, 1), "n": Int(1, 3)}


def bowl(params: dict[str, Any]) -> float:
    return float((params["x"] - 0.3) ** 2 + params["n"])


@pytest.mark.parametrize("workers", [1, 3])
def test_a_run_uses_the_budget(
    tmp_path: Path, workers: int, caplog: pytest.LogCaptureFixture
) -> None:
    study = Study.create(tmp_path / "bo.db", "demo", SPACE, budget=15, noise_free=True)
    seen: list[int] = []
    threads = set()

    def f(params: dict[str, Any]) -> float:
        threads.add(threading.current_thread() is threading.main_thread())
        assert isinstance(params["n"], int)
        if params["x"] > 0.95:
            raise ValueError("too large")
        return bowl(params)

    result = study.run(f, workers=workers, callback=lambda _, t: seen.append(t.number))
    assert threads == {workers == 1}
    assert sorted(seen) == list(range(1, 16))
    assert result.stopped == ""
    assert result.best.number == study.best.number
    assert study.best.value is not None
    assert study.best.value < 1.05
    assert all(t.state == "complete" or "ValueError" in t.message for t in study.trials)
    assert all(t.seconds >= 0 for t in result.trials)
    assert "no trial is evaluated" not in caplog.text
    assert len(study.run(bowl).trials) == 15
    assert "no trial is evaluated: the budget is used up (bo study edit demo" in caplog.text


def rising(params: dict[str, Any], trial: Trial) -> dict[str, Any]:
    value = bowl(params)
    for step in range(1, 5):
        trial.report(step, value)
        if trial.should_stop():
            break
    return {"value": value, "pid": os.getpid()}


def dies(params: dict[str, Any]) -> float:
    os._exit(3)


def test_an_executor_has_the_method_submit(tmp_path: Path) -> None:
    study = Study.create(tmp_path / "bo.db", "s", SPACE, budget=2)
    four: Any = 4
    with pytest.raises(TypeError, match="executor is 4, want an executor with the method submit"):
        study.run(rising, workers=2, executor=four)


def test_an_executor_evaluates(tmp_path: Path) -> None:
    study = Study.create(
        tmp_path / "bo.db", "demo", SPACE, budget=14, stop={"rule": "median", "startup": 3}
    )
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as executor:
        result = study.run(rising, executor=executor)
    complete = [t for t in result.trials if t.state == "complete"]
    assert len(result.trials) == 14
    assert {len(t.steps) for t in complete} == {4}
    assert any(t.state == "stopped" for t in result.trials)
    assert os.getpid() not in {t.numbers["pid"] for t in complete}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_forked_processes_do_not_keep_bo_running(tmp_path: Path) -> None:
    study = Study.create(tmp_path / "bo.db", "demo", SPACE, budget=9)
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("fork")) as executor:
        result = study.run(bowl, executor=executor, callback=lambda _, t: True)
    assert result.stopped == "the callback ended the run"
    assert result.warnings == []  # bo ended with its input, and was not killed


def test_an_executor_that_breaks_leaves_the_trials(tmp_path: Path) -> None:
    study = Study.create(tmp_path / "bo.db", "demo", SPACE, budget=4)
    with (
        ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as executor,
        pytest.raises(BrokenExecutor) as broken,
    ):
        study.run(dies, executor=executor)
    if sys.version_info >= (3, 11):
        assert "define functions of a notebook in a module" in broken.value.__notes__[0]
    assert {t.state for t in study.trials} == {"pending"}
    assert len(study.run(bowl).trials) == 4


def lock(params: dict[str, Any]) -> Any:
    return threading.Lock()


def test_a_value_that_cannot_be_pickled(tmp_path: Path) -> None:
    study = Study.create(tmp_path / "bo.db", "demo", SPACE, budget=4)
    with (
        ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as executor,
        pytest.raises(FailuresError, match="define the function at the top level"),
    ):
        study.run(lock, executor=executor)


def test_ends_of_a_run(tmp_path: Path) -> None:
    def create(name: str, **options: Any) -> Any:
        return Study.create(tmp_path / "bo.db", name, {"x": Float(0, 1)}, budget=9, **options)

    target = create("target").run(lambda p: 1.0, target=2)
    assert len(target.trials) == 1
    assert "target is reached" in target.stopped

    def sleeps(params: dict[str, Any]) -> float:
        time.sleep(0.2)
        return 1.0

    late = create("time").run(sleeps, time=0.1)
    assert 1 <= len(late.trials) < 9
    assert "the time is used up" in late.stopped
    called = create("callback").run(lambda p: 1.0, callback=lambda _, t: t.number == 3)
    assert called.stopped == "the callback ended the run"
    assert called.trials[2].state == "complete"

    def fails(params: dict[str, Any]) -> float:
        raise ValueError("no")

    for options, message in (
        ({"max_failures": 1}, "too many trials failed"),
        ({}, 'too many trials failed: .* alike: ValueError: no .state failures="expected"'),
    ):
        study = create(f"fails {len(options)}".replace(" ", "-"))
        with pytest.raises(FailuresError, match=message) as caught:
            study.run(fails, **options)
        assert isinstance(caught.value.__cause__, ValueError)
        assert caught.value.result is not None
        assert re.search(message, caught.value.result.stopped)
    with pytest.raises(
        NoValueError, match="all 9 evaluations failed, the last one with: the value is None"
    ):
        create("nothing", failures="expected").run(lambda p: None)
    unusable = create("nan").run(lambda p: float("nan") if p["x"] < 0.5 else 1.0)
    assert {t.state for t in unusable.trials} == {"complete", "failed"}


def test_a_failed_trial_frees_its_data(tmp_path: Path) -> None:
    kept: list[weakref.ref[Any]] = []

    def f(params: dict[str, Any]) -> float:
        assert all(data() is None for data in kept)
        data = threading.Event()  # stands in for a large array
        kept.append(weakref.ref(data))
        raise ValueError(f"no {len(kept)}")

    study = Study.create(tmp_path / "bo.db", "s", SPACE, budget=4, failures="expected")
    with pytest.raises(NoValueError, match="ValueError: no 4") as caught:
        study.run(f)
    assert isinstance(caught.value.__cause__, ValueError)


def test_progress_counts_the_trials_of_all_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    store = tmp_path / "bo.db"
    study = Study.create(store, "demo", {"x": Float(0, 1)}, budget=6, failures="expected")
    study.run(lambda p: p["x"], callback=lambda _, t: t.number == 3, progress=False)
    assert capsys.readouterr().err == ""

    def f(params: dict[str, Any]) -> float:
        if len(study.trials) == 6:
            raise ValueError("broken")
        return -float(params["x"])

    result = study.run(f, progress=True)
    lines = capsys.readouterr().err.splitlines()
    assert [line[:9] for line in lines] == ["trial 4/6", "trial 5/6", "trial 6/6"]
    assert "failed: ValueError: broken" in lines[2]
    assert not [r for r in caplog.records if r.levelname == "WARNING"]  # failures are expected
    assert result.recommendation is not None
    assert result.recommendation.observed.trial.number == result.best.number
    assert study.recommend() == result.recommendation


def test_several_numbers(tmp_path: Path) -> None:
    study = Study.create(
        tmp_path / "bo.db",
        "front",
        {"x": Float(0, 1)},
        objectives=["a", {"name": "b", "goal": "maximize"}],
        require=["c <= 1"],
        budget=8,
    )
    result = study.run(lambda p: {"a": p["x"], "b": p["x"] ** 2, "c": 2 * p["x"], "more": 3})
    assert result.pareto is not None
    assert result.pareto.front
    assert study.trials[0].numbers["more"] == 3


def test_a_rule_stops_trials(tmp_path: Path) -> None:
    study = Study.create(
        tmp_path / "bo.db",
        "s",
        {"x": Float(0, 1)},
        budget=8,
        stop={"rule": "median", "min_steps": 1, "startup": 2},
    )

    def f(params: dict[str, Any], trial: Trial) -> float:
        for step in range(1, 6):
            if trial.report(step, params["x"]):
                return 0.0  # it does not count
        return float(params["x"])

    states = [t.state for t in study.run(f).trials]
    assert "stopped" in states
    assert set(states) == {"complete", "stopped"}


def test_the_error_without_a_value_counts_stopped_trials(tmp_path: Path) -> None:
    study = Study.create(
        tmp_path / "bo.db", "s", {"x": Float(0, 1)}, budget=3, stop={"rule": "asha", "eta": 2}
    )
    steps: list[int] = []

    def f(params: dict[str, Any], trial: Trial) -> float:
        steps.append(len(steps))
        trial.report(1, steps[-1])
        raise MemoryError("no memory left")

    with pytest.raises(NoValueError, match="of 3 evaluations 2 were stopped early, and the others"):
        study.run(f)


def test_steps_of_threads(tmp_path: Path) -> None:
    study = Study.create(tmp_path / "bo.db", "s", {"x": Float(0, 1)}, budget=6)

    def f(params: dict[str, Any], trial: Trial) -> float:
        for step in range(20):
            assert not trial.report(step, float("nan") if step == 3 else params["x"] + step)
        with pytest.raises(TrialError, match="the step is nan, want a finite number"):
            trial.report(float("nan"), 1.0)
        return float(params["x"])

    result = study.run(f, workers=3)
    for trial in result.trials:
        assert trial.state == "complete", trial.message
        assert [s.step for s in trial.steps] == list(range(20))
        assert trial.steps[5].value == pytest.approx(trial.params["x"] + 5)


def test_the_end_of_bo_in_a_callback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    study = Study.create(tmp_path / "bo.db", "s", {"x": Float(0, 1)}, budget=6)
    started: list[subprocess.Popen[bytes]] = []
    start = StoredRun._start

    def begin(run: StoredRun) -> subprocess.Popen[bytes]:
        started.append(start(run))
        return started[0]

    def kill(*_: Any) -> bool:
        started[0].kill()
        return True

    monkeypatch.setattr(StoredRun, "_start", begin)
    result = study.run(lambda p: 1.0, callback=kill)
    assert any("the last results may not be stored" in w for w in result.warnings)
    assert "the last results may not be stored" in caplog.text


def test_steps_after_the_end(tmp_path: Path) -> None:
    study = Study.create(tmp_path / "bo.db", "s", {"x": Float(0, 1)}, budget=6)
    first, stopped = threading.Event(), threading.Event()

    def f(params: dict[str, Any], trial: Trial) -> float:
        if trial.number == 1:
            first.set()
            while not trial.report(time.monotonic(), 1.0):
                time.sleep(0.01)
            stopped.set()
        first.wait()
        return 1.0

    study.run(f, workers=2, callback=lambda _, t: True)
    assert stopped.wait(10)
    assert study.trials[0].state == "pending"


def test_wrong_arguments(tmp_path: Path) -> None:
    study = Study.create(tmp_path / "bo.db", "demo", SPACE, budget=3)

    async def coroutine(params: dict[str, Any]) -> float:
        return 1.0

    with pytest.raises(TypeError, match="f is a coroutine function"):
        study.run(coroutine)  # type: ignore[arg-type]
    with pytest.raises(StudyError, match="workers is 0"):
        study.run(bowl, workers=0)
    with pytest.raises(StudyError, match="max_failures is 0, want 1 or more"):
        study.run(bowl, max_failures=0)
    (tmp_path / "bo.db").unlink()
    with pytest.raises(ProcessError, match=r"no studies yet: .* \(Study.create makes a store\)$"):
        study.run(bowl)


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
def test_a_killed_bo_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = Study.create(tmp_path / "bo.db", "demo", SPACE, budget=4)
    started: list[subprocess.Popen[bytes]] = []
    start = StoredRun._start

    def remember(run: StoredRun) -> subprocess.Popen[bytes]:
        started.append(start(run))
        return started[0]

    def f(params: dict[str, Any]) -> float:
        started[0].kill()
        started[0].wait()
        return bowl(params)

    monkeypatch.setattr(StoredRun, "_start", remember)
    with pytest.raises(ProcessError, match=r"ended unexpectedly \(killed by SIGKILL\); .* kept$"):
        study.run(f)
    monkeypatch.undo()
    assert len(study.run(bowl).trials) == 4


def test_the_end_of_f_gives_the_trial_back(tmp_path: Path) -> None:
    store = tmp_path / "bo.db"
    study = Study.create(store, "demo", SPACE, budget=4)

    def leaves(params: dict[str, Any]) -> float:
        raise SystemExit(3)

    def interrupts(params: dict[str, Any]) -> float:
        raise KeyboardInterrupt

    with pytest.raises(SystemExit):
        study.run(leaves)
    assert study.run(interrupts).interrupted
    assert [t.state for t in study.trials] == ["pending"]
    begun = time.monotonic()
    result = study.run(bowl)
    assert time.monotonic() - begun < 30  # and not after a lease of a minute
    assert [t.state for t in result.trials] == ["complete"] * 4
    threads = Study.create(store, "threads", SPACE, budget=4, failures="expected")
    with pytest.raises(NoValueError, match="SystemExit: 3"):
        threads.run(leaves, workers=2)


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
def test_a_killed_process_loses_nothing(tmp_path: Path) -> None:
    program = (
        "import sys, time\n"
        "from functionspace_bo import Study\n"
        "study = Study.open(sys.argv[1], 'demo')\n"
        "def f(params):\n"
        "    print('begun', flush=True)\n"
        "    time.sleep(float(sys.argv[2]))\n"
        "    return params['x']\n"
        "study.run(f)\n"
    )
    store = tmp_path / "bo.db"
    study = Study.create(store, "demo", {"x": Float(0, 1)}, budget=12)
    source = str(Path(__file__).parent.parent / "src")
    env = {**os.environ, "PYTHONPATH": source}

    def start(seconds: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-c", program, str(store), seconds]
        return subprocess.Popen(command, stdout=subprocess.PIPE, env=env)

    slow = start("60")
    assert slow.stdout is not None
    assert slow.stdout.readline() == b"begun\n"
    others = [start("0.02") for _ in range(2)]
    slow.send_signal(signal.SIGKILL)
    for process in (slow, *others):
        process.communicate(timeout=60)
    assert [p.returncode for p in others] == [0, 0]
    assert [t.state for t in study.trials] == ["complete"] * 12
