"""Processes and threads: nothing told is lost, and no process is left behind."""

from __future__ import annotations

import gc
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from functionspace_bo import Float, ProcessError, Study, minimize

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")

X = {"x": Float(0, 1)}
SLOW = {"surrogate": {"name": "hmc", "draws": 100000, "warmup": 100000}, "initial": 2}


def pid_of(study: Study) -> int:
    running = study._suggestions.process._running
    assert running is not None
    return running._process.pid


def exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    return not (stat.exists() and stat.read_text().rsplit(")", 1)[1].split()[0] == "Z")


def ends(pid: int, seconds: float = 10) -> bool:
    deadline = time.monotonic() + seconds
    while exists(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not exists(pid)


def tell_first(study: Study, n: int = 2) -> None:
    for t in study.ask(n):
        study.tell(t, t.params["x"])


def test_killing_bo_loses_nothing() -> None:
    with Study(X, initial=2) as killed, Study(X, initial=2) as other:
        for study in (killed, other):
            tell_first(study)
            study.tell(study.ask(), 0.5)
        os.kill(pid_of(killed), signal.SIGKILL)
        with pytest.raises(ProcessError, match=r"killed by SIGKILL\); all told results are kept"):
            killed.ask()
        assert len(killed.trials) == 3
        assert killed.ask() == other.ask()


def test_killing_bo_during_a_fit() -> None:
    with Study(X, **SLOW) as study:  # type: ignore[arg-type]
        tell_first(study)
        running = study._suggestions.process._running
        assert running is not None
        timer = threading.Timer(0.5, os.kill, (pid_of(study), signal.SIGKILL))
        timer.start()
        with pytest.raises(ProcessError, match="SIGKILL"):
            study.ask()
        for stream in (running._process.stdin, running._process.stdout, running._stderr):
            assert stream is not None
            assert stream.closed
        assert [t.state for t in study.trials] == ["complete", "complete"]


@pytest.mark.parametrize("busy", [False, True])
def test_killing_python_leaves_no_bo_behind(busy: bool, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import time\n"
        "from functionspace_bo import Float, Study\n"
        f"study = Study({{'x': Float(0, 1)}}, **{SLOW})\n"
        "for t in study.ask(2):\n"
        "    study.tell(t, t.params['x'])\n"
        "print(study._suggestions.process._running._process.pid, flush=True)\n"
        + ("study.ask()\n" if busy else "time.sleep(60)\n")
    )
    python = start(script)
    assert python.stdout is not None
    pid = int(python.stdout.readline())
    time.sleep(0.5)
    assert exists(pid)
    python.kill()
    python.wait()
    assert ends(pid)


def start(script: Path) -> subprocess.Popen[str]:
    path = os.pathsep.join(p for p in sys.path if p)
    return subprocess.Popen(
        [sys.executable, "-W", "error", str(script)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    )


def test_ctrl_c_during_a_fit(tmp_path: Path) -> None:
    """The terminal signals all processes of its group."""
    script = tmp_path / "script.py"
    script.write_text(
        "import os, signal, threading\n"
        "from functionspace_bo import Float, minimize\n"
        "def f(p):\n"
        "    if len(calls) == 1:\n"
        "        threading.Timer(1, os.killpg, (0, signal.SIGINT)).start()\n"
        "    calls.append(p)\n"
        "    return p['x']\n"
        "calls = []\n"
        f"result = minimize(f, {{'x': Float(0, 1)}}, **{SLOW})\n"
        "print(result.interrupted, len(calls), result.best.value == min(c['x'] for c in calls))\n"
    )
    path = os.pathsep.join(p for p in sys.path if p)
    done = subprocess.run(
        [sys.executable, "-W", "error", str(script)],
        capture_output=True,
        text=True,
        check=False,
        start_new_session=True,
        timeout=60,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert done.stdout == "True 2 True\n", done.stderr


def test_exit_of_the_interpreter_is_clean(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import threading\n"
        "from functionspace_bo import Float, Study\n"
        f"studies = [Study({{'x': Float(0, 1)}}, **{SLOW}) for _ in range(3)]\n"
        "for s in studies:\n"
        "    print(s._suggestions.process._running._process.pid, flush=True)\n"
        "    for t in s.ask(2):\n"
        "        s.tell(t, t.params['x'])\n"
        "threading.Thread(target=studies[0].ask, daemon=True).start()\n"
        "studies[1].close()\n"
    )
    python = start(script)
    out, err = python.communicate(timeout=60)
    assert python.returncode == 0
    assert err == ""
    assert all(ends(int(pid)) for pid in out.split())


def test_a_study_that_is_collected_ends_its_process() -> None:
    study = Study(X)
    pid = pid_of(study)
    del study
    gc.collect()
    assert ends(pid)


def ask_in_child(study: Study, out: Any) -> None:
    t = study.ask()
    out.put((pid_of(study), t.params["x"]))
    study.close()


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_a_child_process_has_a_bo_of_its_own(method: str) -> None:
    context: Any = multiprocessing.get_context(method)
    with Study(X, initial=2) as study:
        tell_first(study)
        stop = threading.Event()

        def busy() -> None:
            while not stop.is_set():
                with study._lock:
                    time.sleep(0.01)

        holder = threading.Thread(target=busy)  # a lock may be held at the fork
        holder.start()
        out = context.Queue()
        child = context.Process(target=ask_in_child, args=(study, out))
        child.start()
        pid, x = out.get(timeout=60)
        child.join()
        stop.set()
        holder.join()
        assert child.exitcode == 0
        assert pid != pid_of(study)
        assert ends(pid)
        assert study.ask().params["x"] == x


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_does_not_keep_bo_alive() -> None:
    study = Study(X)
    pid = pid_of(study)
    child = os.fork()
    if child == 0:
        time.sleep(30)
        os._exit(0)
    try:
        time.sleep(0.2)
        study.close()
        assert ends(pid, 5)
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def test_threads() -> None:
    with Study(X, initial=4) as study:
        numbers: list[int] = []

        def work() -> None:
            for _ in range(4):
                t = study.ask()
                study.tell(t, t.params["x"])
                numbers.append(t.number)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(numbers) == list(range(1, 17))
        assert all(t.state == "complete" for t in study.trials)
        pid = pid_of(study)
    assert ends(pid)


def test_a_file_of_a_study_while_another_thread_asks(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with Study(X) as study:
        study.enqueue({"x": 0.5})
        write = json.dumps

        def dumps(document: Any) -> str:
            monkeypatch.undo()
            study.ask()
            return write(document)

        monkeypatch.setattr(json, "dumps", dumps)
        study.save(tmp_path / "study.json")
    with Study.load(tmp_path / "study.json") as loaded:
        assert loaded.ask().params == {"x": 0.5}


def test_tell_does_not_wait_for_a_fit() -> None:
    with Study(X, **SLOW) as study:  # type: ignore[arg-type]
        first, second = study.ask(2)
        study.tell(first, 1)

        def ask() -> None:
            with pytest.raises(ProcessError):
                study.ask()

        thread = threading.Thread(target=ask)
        thread.start()
        time.sleep(0.3)
        started = time.monotonic()
        study.tell(second, 2)
        assert study.best == study.trials[0]
        assert time.monotonic() - started < 0.2
        os.kill(pid_of(study), signal.SIGKILL)
        thread.join()


def test_a_missing_executable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BO_BINARY", "/no/such/bo")
    with pytest.raises(ProcessError, match="bo cannot be started"):
        Study(X)


@pytest.mark.parametrize("workers", [1, 4])
def test_a_signal_of_the_terminal_ends_a_run_with_its_results(workers: int, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import time\n"
        "from functionspace_bo import Float, Study\n"
        "def f(p):\n"
        "    time.sleep(0.05)\n"
        "    return p['x']\n"
        "def callback(study, trial):\n"
        "    if trial.number == 4:\n"
        "        print(study._suggestions.process._running._process.pid, flush=True)\n"
        "with Study({'x': Float(0, 1)}) as study:\n"
        f"    result = study.run(f, 100000, workers={workers}, callback=callback)\n"
        "complete = [t for t in result.trials if t.state == 'complete']\n"
        "print(result.interrupted, len(complete) >= 4, result.best in complete)\n"
    )
    python = start(script)
    assert python.stdout is not None
    pid = int(python.stdout.readline())
    time.sleep(0.3)
    python.send_signal(signal.SIGINT)
    out, err = python.communicate(timeout=60)
    assert out == "True True True\n", err
    assert err == ""
    assert ends(pid)


def test_many_trials() -> None:
    rows = [(i / 5000 - 0.3) ** 2 for i in range(5000)]
    with Study(X, initial=10000, surrogate="rff") as study:
        started = time.process_time()
        for _ in range(50):
            for trial in study.ask(100):
                study.tell(trial, rows[trial.number - 1])
        assert time.process_time() - started < 10  # 2 ms per trial
        assert len(study.trials) == 5000
        started = time.process_time()
        trial = study.ask()
        study.tell(trial, 1.0)
        assert time.process_time() - started < 0.1
        os.kill(pid_of(study), signal.SIGKILL)
        with pytest.raises(ProcessError, match="all told results are kept"):
            study.ask()
        assert study.ask().number == 5002  # all trials are sent again


_NEWER = """#!{python}
import json, subprocess, sys

def extended(value, key=""):
    if isinstance(value, list):
        return [extended(v, key) for v in value]
    if not isinstance(value, dict) or key in ("params", "numbers", "hyperparameters"):
        return value
    return {{**{{k: extended(v, k) for k, v in value.items()}}, "newer": {{"a": 1}}}}

process = subprocess.Popen([{bo!r}, *sys.argv[1:]], stdout=subprocess.PIPE, text=True)
text = ""
for line in process.stdout:
    text += line
    try:
        print(json.dumps(extended(json.loads(text))), flush=True)
    except ValueError:
        continue
    text = ""
sys.exit(process.wait())
"""


def test_answers_of_a_newer_bo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    newer = tmp_path / "newer"
    newer.write_text(_NEWER.format(python=sys.executable, bo=os.environ["BO_BINARY"]))
    newer.chmod(0o755)
    monkeypatch.setenv("BO_BINARY", str(newer))
    result = minimize(
        lambda p: {"value": p["x"] ** 2, "size": p["x"]},
        {"x": Float(-1, 1)},
        budget=6,
        initial=2,
        require=["size <= 0.5"],
    )
    assert result.trials[-1].prediction is not None
    assert result.recommendation is not None
    study = Study.create(tmp_path / "bo.db", "demo", X)
    study.tell(study.ask(), 1)
    assert study.best.value == 1
    two = Study.create(tmp_path / "bo.db", "two", X, objectives=["a", "b"])
    two.tell(two.ask(), {"a": 1, "b": 2})
    assert len(two.pareto().front) == 1
