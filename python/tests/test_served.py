"""Studies of a service: a real `bo serve`, which tests kill and start again."""

from __future__ import annotations

import math
import os
import pickle
import shutil
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from conftest import Server

from functionspace_bo import (
    CommandError,
    ExhaustedError,
    ExistsError,
    FailuresError,
    Float,
    Int,
    NoValueError,
    ProcessError,
    RequestError,
    ServedStudy,
    StoppedError,
    StoredStudy,
    Study,
    StudyError,
    Trial,
    TrialError,
)
from functionspace_bo import _served as served
from functionspace_bo import _service as service
from functionspace_bo._binary import find_binary
from functionspace_bo._served import _Leases

SPACE = {"x": Float(0, 1), "n": Int(1, 3)}


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a service that most tests share."""
    server = Server(tmp_path_factory.mktemp("service"))
    yield server.url
    server.kill()


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """Starts a service in a folder of its own."""
    started: list[Server] = []

    def begin(*flags: str) -> Server:
        started.append(Server(tmp_path, *flags))
        return started[-1]

    yield begin
    for server in started:
        server.kill()


@pytest.fixture(autouse=True)
def _end_heartbeats(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Ends the heartbeats of trials to which a test gives no result."""
    made: list[_Leases] = []

    def make(*arguments: Any) -> _Leases:
        made.append(_Leases(*arguments))
        return made[-1]

    monkeypatch.setattr(served, "_Leases", make)
    yield
    for leases in made:
        leases._after_fork()


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "_START", 0.2)


def create(url: str, name: str, space: Any, **options: Any) -> ServedStudy:
    study = Study.create(url, name, space, **options)
    assert isinstance(study, ServedStudy)
    return study


def counts(study: ServedStudy) -> tuple[int, int]:
    """Returns the numbers of running and of waiting trials."""
    shown = study._call("GetStudy")
    return shown["running"], shown["waiting"]


def bowl(params: dict[str, Any]) -> float:
    return float((params["x"] - 0.3) ** 2 + params["n"])


def test_a_study_of_a_service(url: str) -> None:
    study = create(url, "demo", SPACE, budget=9, goal="maximize", require=["cost <= 2"])
    assert study.definition["budget"] == 9
    with pytest.raises(NoValueError, match="study demo: no trial is complete"):
        _ = study.best
    first = study.ask()
    assert list(first.params) == ["x", "n"]
    assert isinstance(first.params["n"], int)
    second, third = study.ask(2, lease="1h30m")
    told = study.tell(first, {"value": 2, "cost": 3, "saved": "/runs/1"})
    assert (told.value, told.feasible, told.message) == (2.0, False, "saved=/runs/1")
    assert study.tell(first, {"value": 2, "cost": 3}).value == 2  # the same result again
    assert study.tell(second.number, {"value": -3, "cost": 1}).feasible
    assert study.fail(third, "-- it broke").state == "failed"
    assert study.enqueue({"x": 0.5, "n": 2}).params == {"x": 0.5, "n": 2}
    assert study.enqueue({"n": 3}).params["n"] == 3
    other = Study.open(url, "demo")
    assert other.ask().params == {"x": 0.5, "n": 2}
    assert other.ask(given={"n": 1}).params["n"] == 1
    assert study.best.number == 2
    trials = other.trials
    assert [t.state for t in trials] == ["complete", "complete", "failed", *["pending"] * 3]
    assert trials[2].message == "-- it broke"
    assert other.records()[0]["numbers"] == {"value": 2.0, "cost": 3.0}
    assert study.tell(first, {"cost": 1}, correct=True).feasible
    assert study.best.number == 1
    moved = study.tell(4, {"value": 1, "cost": 1}, at={"x": 0.25})
    assert moved.params == {"x": 0.25, "n": 2}
    assert study.recommend().observed.trial.number == 1
    assert study.recommend(given={"n": 2}).params["n"] == 2
    assert set(study.predict([{"x": 0.5, "n": 1}])[0].mean) == {"value", "cost"}
    assert "<html" in study.html_report().html
    assert repr(pickle.loads(pickle.dumps(study))) == f"<ServedStudy demo of {url}>"


def test_a_pickled_study_reads_the_token_file(url: str, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("bo_first")
    study = Study.create(url, "pickled", SPACE, token=file)
    text = pickle.dumps(study)
    assert b"bo_first" not in text
    file.write_text("bo_second")
    restored = pickle.loads(text)
    assert restored._service.token == "bo_second"
    assert restored._service.file == str(file)
    given = pickle.loads(pickle.dumps(Study.open(url, "pickled", token="bo_text")))
    assert (given._service.token, given._service.file) == ("bo_text", None)


def test_sources_of_trials(url: str) -> None:
    study = Study.create(url, "sources", SPACE, budget=3, initial=2)
    study.enqueue({"x": 0.5, "n": 2})
    first = study.ask()
    assert first.source == "enqueued"
    study.tell(first, 1)
    sources: list[str] = []

    def f(params: dict[str, Any], trial: Trial) -> float:
        sources.append(trial.source)
        return bowl(params)

    result = study.run(f, callback=lambda _, t: sources.append(t.source))
    expected = [t.source for t in result.trials[1:]]
    assert sources == [source for source in expected for _ in range(2)]
    assert set(expected) == {"design", "suggested"}


def test_several_objectives(url: str) -> None:
    study = Study.create(url, "several", {"x": Float(0, 1)}, objectives=["a", "b"], budget=6)
    result = study.run(lambda p: (p["x"], 1 - p["x"]))
    assert result.pareto is not None
    assert len(result.pareto.front) == 6
    assert result.trials[0].value is None
    with pytest.raises(RequestError, match="use pareto"):
        _ = study.best


def test_a_study_that_exists(url: str) -> None:
    study = Study.create(url, "exists", SPACE, seed=2**60 + 1)
    assert study.definition["seed"] == 2**60 + 1
    with pytest.raises(ExistsError, match="study exists: the study exists: use Study"):
        Study.create(url, "exists", SPACE)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Study.create(url, "exists", SPACE, seed=2**60 + 1, exist_ok=True)
    with pytest.warns(UserWarning, match="exists with other budget than") as caught:
        Study.create(url, "exists", SPACE, budget=3, exist_ok=True)
    assert caught[0].filename == __file__


def test_faults(url: str, impatient: None) -> None:
    with pytest.raises(CommandError, match=r"^study absent: no such study$"):
        Study.open(url, "absent")
    for store in (url, "bo.db"):
        for name in (None, 5, float("nan"), ""):
            with pytest.raises(StudyError, match=r"^invalid study: name is .*, want a text"):
                Study.open(store, name)  # type: ignore[arg-type]
    with pytest.raises(StudyError, match="min 1 is above max 0"):
        Study.create(url, "faults", {"x": Float(1, 0)})
    study = Study.create(url, "faults", {"x": Float(0, 1)}, budget=2)
    with pytest.raises(TrialError, match="no such trial: 7"):
        study.tell(7, 1.0)
    with pytest.raises(TrialError, match="not a usable number"):
        study.tell(1, float("nan"))
    with pytest.raises(RequestError, match='unknown parameter "y"'):
        study.enqueue({"y": 1.0})
    for lease in ("soon", "0s", "1d", "h", "9999999999h", 5):
        with pytest.raises(RequestError, match=r"the lease is .*, want a positive time such as"):
            study.ask(lease=lease)  # type: ignore[arg-type]
    first, second = study.ask(2)
    with pytest.raises(TrialError, match=r"^study faults: no usable number: trial 1: no number na"):
        study.tell(first, {"other": 1})
    study.tell(first, 1)
    with pytest.raises(TrialError, match="conflicting result: trial 1 has the result"):
        study.tell(first, 2)
    with pytest.raises(TrialError, match="trial 2 was suggested at x="):
        study.tell(second, {"value": 1, "x": 3})
    study.tell(second, 1)
    with pytest.raises(ExhaustedError, match="the budget is used up"):
        study.ask()
    wrong: tuple[dict[str, Any], ...] = ({"target": 1.0}, {"max_failures": 1})
    for options in wrong:
        with pytest.raises(StudyError, match=f"{next(iter(options))} is for a study in a store"):
            study.run(bowl, **options)
    with pytest.raises(CommandError, match=r"^http://127\.0\.0\.1:1: \w"):
        Study.open("http://127.0.0.1:1", "s")
    with pytest.raises(CommandError, match=f"^{url}/path: 404 Not Found: "):
        Study.open(url + "/path", "s")
    wrong_addresses = (
        "http://",
        "https://host:port",
        "https://a b",
        "http://a..b",
        "http://h/\xf6",
    )
    for address in (*wrong_addresses, "http://h\0"):
        with pytest.raises(RequestError, match="is no address of a service, want https://HOST"):
            Study.open(address, "s")
    with pytest.raises(RequestError, match=r"^the address of the service has a user") as caught:
        Study.open("https://anna:secret@host", "s")
    assert "secret" not in str(caught.value)
    with pytest.raises(RequestError, match=r"the store is .*: Study.open opens a study of a ser"):
        StoredStudy(url, "faults")
    with pytest.raises(RequestError, match="token is for the address of a service"):
        Study.open("bo.db", "s", token="bo_1")
    with pytest.raises(RequestError, match=r"ca: .* is no file with certificates"):
        Study.open("https://localhost:1", "s", ca=__file__)


def test_another_program_at_the_address(impatient: None) -> None:
    class Null(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(b"null")

        def log_message(self, *_: Any) -> None: ...

    with HTTPServer(("127.0.0.1", 0), Null) as other:
        threading.Thread(target=other.serve_forever, daemon=True).start()
        with pytest.raises(CommandError, match="the answer is not an answer of bo serve"):
            Study.open(f"http://127.0.0.1:{other.server_port}", "s")
        other.shutdown()


def test_a_token_file_is_read_again(serve: Callable[..., Server], tmp_path: Path) -> None:
    file, names = tmp_path / "token", iter("abcdef")

    def change(action: str, name: str, *flags: str) -> str:
        command = [find_binary(), "token", action, name, *flags]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def valid(token: str) -> bool:
        try:
            Study.open(url, "rotated", token=token)
        except CommandError as err:
            return "token" not in str(err)
        return True

    def replaces() -> None:
        """Replaces the token in the file, and waits until the service refuses the old one."""
        old, token = file.read_text(), change("add", next(names), *admin)
        while not valid(token):
            time.sleep(0.05)
        file.write_text(token)
        change("remove", next(removed))
        while valid(old):
            time.sleep(0.05)

    def changing(params: dict[str, Any]) -> float:
        replaces()
        return bowl(params)

    admin, removed = ("--role", "admin"), iter("abcdef")
    file.write_text(change("add", next(names), *admin))
    url = serve().url
    study = Study.create(url, "rotated", SPACE, token=file, budget=3)
    trial = study.ask()
    replaces()
    assert study.tell(trial, 1).state == "complete"
    assert len(study.run(changing).trials) == 3
    file.write_text("bo_wrong")
    with pytest.raises(CommandError, match="the token is not valid"):
        Study.open(url, "rotated", token=file)


def test_tokens(
    serve: Callable[..., Server], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def add(name: str, role: str) -> str:
        command = [find_binary(), "token", "add", name, "--role", role]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    admin, work, read = add("admin", "admin"), add("workers", "work"), add("readers", "read")
    url = serve().url
    monkeypatch.delenv("BO_TOKEN", raising=False)
    with pytest.raises(CommandError, match=f"^{url}: a token is missing"):
        Study.open(url, "demo")
    with pytest.raises(CommandError, match=f"^{url}: the token is not valid$"):
        Study.create(url, "demo", SPACE, token="bo_wrong")
    with pytest.raises(CommandError, match="the token has the role work, the method needs admin"):
        Study.create(url, "demo", SPACE, token=work, exist_ok=True)
    for token in ("bo 1", "bo\x011", "b\xf61"):
        with pytest.raises(RequestError, match=r"^the token is no single word") as caught:
            Study.open(url, "demo", token=token)
        assert token not in str(caught.value)
    with pytest.raises(RequestError, match=r"token: .*missing cannot be read"):
        Study.open(url, "demo", token=tmp_path / "missing")
    Study.create(url, "demo", SPACE, token=admin, budget=4)
    (tmp_path / "token").write_text(work + "\n")
    study = Study.create(url, "demo", SPACE, token=tmp_path / "token", budget=4, exist_ok=True)
    assert work not in repr(study)
    study.tell(study.ask(), 1)
    with pytest.raises(ProcessError, match="the token has the role read, the method needs work"):
        Study.open(url, "demo", token=read).run(bowl)
    monkeypatch.setenv("BO_TOKEN", work)
    assert len(Study.open(url, "demo").run(bowl, workers=2).trials) == 4
    monkeypatch.setattr(service, "_loopback", lambda url: False)
    with pytest.warns(UserWarning, match="the token travels unencrypted: use https"):
        Study.open(url, "demo")


@pytest.mark.parametrize("workers", [1, 2])
def test_a_run_outlasts_a_restart(
    serve: Callable[..., Server], workers: int, caplog: pytest.LogCaptureFixture
) -> None:
    server = serve()
    study = Study.create(server.url, "demo", SPACE, budget=8, noise_free=True)
    evaluated: list[tuple[float, int]] = []
    called: list[int] = []
    lock = threading.Lock()

    def f(params: dict[str, Any]) -> float:
        with lock:
            evaluated.append((params["x"], params["n"]))
            number = len(evaluated)
            if number == 3:
                server.restart(0.4)
        if number == 4:
            raise ValueError("too large")
        return bowl(params)

    result = study.run(f, workers=workers, callback=lambda _, t: called.append(t.number))
    assert len(evaluated) == len(set(evaluated)) == 8
    assert sorted(called) == list(range(1, 9))
    assert [t.state for t in result.trials].count("complete") == 7
    assert [t.message for t in result.trials if t.state == "failed"] == ["ValueError: too large"]
    assert result.warnings == []
    assert "; trying again" in caplog.text


def test_a_loop_outlasts_a_restart(
    serve: Callable[..., Server], caplog: pytest.LogCaptureFixture
) -> None:
    server = serve()
    study = Study.create(server.url, "demo", SPACE, budget=6)
    for i in range(6):
        trial = study.ask()
        if i in (1, 3):
            server.restart(0.3)
        study.tell(trial, bowl(trial.params))
    assert [t.state for t in study.trials] == ["complete"] * 6
    assert caplog.text.count("; trying again") == 1  # once in ten seconds


def test_a_repeated_request_is_applied_once(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    post = service.Service._post
    sent: list[str] = []

    def loses_answers(self: Any, method: str, request: Any, limit: float) -> Any:
        answer = post(self, method, request, limit)
        sent.append(method)
        if sent.count(method) == 1:
            raise service.RefusedError("unavailable", "Connection reset by peer")
        return answer

    monkeypatch.setattr(service.Service, "_post", loses_answers)
    study = Study.create(url, "once", SPACE, budget=4)
    assert study.enqueue({"x": 0.5, "n": 1}).number == 1
    assert study.ask().number == 1
    assert study.tell(1, 2.5).value == 2.5
    assert study.fail(study.ask(), "burnt").number == 2
    assert len(study.trials) == 2
    repeated = ["CreateStudy", "GetStudy", "Enqueue", "Ask", "Tell", "Fail"]
    assert [m for m in repeated if sent.count(m) < 2] == []


def test_clients_share_the_trials(url: str) -> None:
    Study.create(url, "shared", SPACE, budget=16, noise_free=True)
    evaluated: list[tuple[float, int]] = []

    def f(params: dict[str, Any]) -> float:
        time.sleep(0.02)
        evaluated.append((params["x"], params["n"]))
        return bowl(params)

    def asks() -> None:
        study = Study.open(url, "shared")
        while True:
            try:
                trial = study.ask()
            except ExhaustedError:
                return
            study.tell(trial, f(trial.params))

    threads = [threading.Thread(target=asks) for _ in range(2)]
    for thread in threads:
        thread.start()
    result = Study.open(url, "shared").run(f, workers=2)
    for thread in threads:
        thread.join()
    assert len(evaluated) == len(set(evaluated)) == 16
    assert [t.state for t in result.trials] == ["complete"] * 16


def test_ends_of_a_run(url: str, caplog: pytest.LogCaptureFixture) -> None:
    def fails(params: dict[str, Any]) -> float:
        raise ValueError("no module")

    with pytest.raises(FailuresError, match="the first 3 failed alike: ValueError: no") as caught:
        Study.create(url, "fails", SPACE, budget=9).run(fails)
    assert isinstance(caught.value.__cause__, ValueError)
    assert '(state failures="expected" if' in str(caught.value)
    with pytest.raises(FailuresError, match='no number named "loss" was reported'):
        Study.create(url, "misnamed", SPACE, objectives=["loss"]).run(lambda p: {"acc": 1})
    end = {"target": 2, "max_failures": 1}
    target = Study.create(url, "target", SPACE, budget=9, end=end).run(lambda p: 1.0)
    assert target.stopped == "the target is reached: trial 1 has value 1"
    late = Study.create(url, "late", SPACE, budget=99).run(bowl, time=0.3)
    assert "the time is used up" in late.stopped
    assert caplog.text.count("regret") == 0
    timed = Study.create(url, "timed", SPACE, budget=99, end={"time": "300ms", "regret": 0.1})
    assert "the time is used up" in timed.run(bowl).stopped
    assert "regret in end of the study does not end a run of a service" in caplog.text
    called = Study.create(url, "called", SPACE).run(bowl, callback=lambda _, t: t.number == 2)
    assert called.stopped == "the callback ended the run"
    few = Study.create(url, "few", {"n": Int(1, 2)}, noise_free=True, budget=9).run(lambda p: 1.0)
    assert "every point of the space has been tried" in few.stopped


def test_a_report_stops_a_trial(url: str) -> None:
    stop: Any = {"rule": "median", "min_steps": 1, "startup": 2}
    study = Study.create(url, "curves", {"x": Float(0, 1)}, budget=8, stop=stop)
    ended: list[Trial] = []

    def f(params: dict[str, Any], trial: Trial) -> float:
        for step in range(1, 6):
            if trial.report(step, float("nan") if step == 1 else params["x"]):
                break
        return float(params["x"])

    result = study.run(f, callback=lambda _, t: ended.append(t))
    assert {t.state for t in result.trials} == {"complete", "stopped"}
    assert [(t.number, t.state) for t in ended] == [(t.number, t.state) for t in result.trials]
    assert "median" in next(t.message for t in ended if t.state == "stopped")
    complete = next(t for t in result.trials if t.state == "complete")
    assert [s.step for s in complete.steps] == [1, 2, 3, 4, 5]
    assert str(complete.steps[0].value) == "nan"
    asking = Study.create(url, "asked", {"x": Float(0, 1)}, budget=8, stop=stop)
    for value in (1, 2, 3):
        trial = asking.ask()
        trial.report(1, value)
        if not trial.should_stop():
            asking.tell(trial, value)
    assert [t.state for t in asking.trials] == ["complete", "complete", "stopped"]
    with pytest.raises(TrialError, match="its steps were not recorded"):
        asking.report(1, 2, 1.0)


def test_a_function_stops_its_trial(url: str) -> None:
    study = Study.create(url, "own", {"x": Float(0, 1)}, budget=5)

    def f(params: dict[str, Any], trial: Trial) -> float:
        trial.report(1, params["x"])
        if params["x"] > 0.5:
            raise StoppedError("x is large")
        return float(params["x"])

    for t in study.run(f).trials:
        assert t.state == ("stopped" if t.params["x"] > 0.5 else "complete")
        assert t.message == ("step 1: x is large" if t.params["x"] > 0.5 else "")


def test_a_trial_that_diverges_has_no_number(url: str) -> None:
    study = Study.create(url, "diverging", {"x": Float(0, 1)}, budget=1)

    def f(params: dict[str, Any], trial: Trial) -> float:
        trial.report(1, math.nan)
        raise StoppedError("the loss is NaN")

    with pytest.raises(NoValueError):
        study.run(f)
    assert [(t.state, t.numbers) for t in study.trials] == [("stopped", {})]


def test_leases_are_extended(serve: Callable[..., Server]) -> None:
    study = create(serve("--lease", "1s").url, "demo", SPACE, budget=4)
    kept, left = study.ask(), study.ask(lease="1s")
    time.sleep(1.3)
    assert study.ask().number == left.number
    token = study._leases.token(kept.number)
    study._call("Release", {"attempts": [{"trial": kept.number, "token": token}]})
    while not kept.should_stop():
        time.sleep(0.05)
    assert study.ask().number == kept.number  # as another attempt
    assert study.tell(kept, 1).value == 1  # the first result counts


def test_ctrl_c_gives_trials_back(url: str) -> None:
    study = create(url, "interrupted", SPACE, budget=4)

    def interrupts(params: dict[str, Any]) -> float:
        raise KeyboardInterrupt

    assert study.run(interrupts).interrupted
    assert counts(study) == (0, 1)
    program = (
        "import sys\n"
        "from functionspace_bo import Study\n"
        "study = Study.open(sys.argv[1], 'interrupted')\n"
        "trials = study.ask(2)\n"
        "print('begun', flush=True)\n"
        "sys.stdin.read()\n"
    )
    if sys.platform == "win32":
        return
    process = subprocess.Popen(
        [sys.executable, "-c", program, url],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent / "src")},
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"begun\n"
    assert counts(study) == (2, 0)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=10)
    assert counts(study) == (0, 2)
    assert len(study.run(bowl).trials) == 4


def test_ctrl_c_during_ask_gives_trials_back(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    study = create(url, "interrupted-ask", SPACE, budget=4)
    post = service.Service._post

    def interrupted(self: Any, method: str, request: Any, limit: float) -> Any:
        answer = post(self, method, request, limit)
        if method == "Ask":
            raise KeyboardInterrupt
        return answer

    with monkeypatch.context() as patch:
        patch.setattr(service.Service, "_post", interrupted)
        with pytest.raises(KeyboardInterrupt):
            study.ask(2)
    assert counts(study) == (0, 2)


def test_ctrl_c_while_the_service_is_away(
    serve: Callable[..., Server], caplog: pytest.LogCaptureFixture
) -> None:
    server = serve()
    study = Study.create(server.url, "demo", SPACE, budget=6)

    def f(params: dict[str, Any]) -> float:
        server.restart(0.4)
        raise KeyboardInterrupt

    assert study.run(f).interrupted
    assert "; trying again" in caplog.text
    assert [t.state for t in study.trials] == ["pending"]  # until its lease ends


@pytest.mark.skipif(shutil.which("openssl") is None, reason="no openssl")
def test_certificates(
    serve: Callable[..., Server], tmp_path: Path, impatient: None, caplog: pytest.LogCaptureFixture
) -> None:
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    command += ["-nodes", "-days", "2", "-subj", "/CN=bo", "-addext", "subjectAltName=IP:127.0.0.1"]
    command += ["-keyout", str(key), "-out", str(cert)]
    subprocess.run(command, check=True, capture_output=True)
    url = serve("--tls-cert", str(cert), "--tls-key", str(key)).url
    assert url.startswith("https://")
    with pytest.raises(CommandError, match=r"the certificate is not valid: .*ca names the file"):
        Study.open(url, "demo")
    assert caplog.text == ""  # it is not repeated
    study = Study.create(url, "demo", SPACE, budget=3, ca=cert)
    study.tell(study.ask(), 1)
    assert len(study.run(bowl).trials) == 3
