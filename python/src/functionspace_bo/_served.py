"""Studies of a service, `bo serve`."""

from __future__ import annotations

import atexit
import json
import os
import re
import secrets
import socket
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, SupportsFloat

from ._definition import define
from ._outcomes import MAX_VALUE, Outcomes, Requirement
from ._process import on_fork
from ._reporter import LocalReporter
from ._space import Space
from ._store import StoredStudy, _parameters, _run, check_name
from ._trial import Trial
from .errors import (
    BoError,
    CommandError,
    ExistsError,
    NoValueError,
    RequestError,
    StudyError,
    TrialError,
)

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import Options
    from ._service import Service

_ASK = 600.0  # seconds of one request for trials, which may wait for a fit
_RELEASE = 5.0  # seconds of the request that returns trials after an interrupt
_PART = re.compile(r"(\d+\.?\d*|\.\d+)(h|ms|m|s|us|µs|ns)", re.ASCII)
_LEASE = re.compile(f"(?:{_PART.pattern})+", re.ASCII)
_UNITS = {"h": 3600, "m": 60, "s": 1, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
_LONGEST = 9e9  # seconds of a lease, about the bound of `bo ask --lease`
_EXACT = 1 << 53  # larger whole numbers are texts in requests


class ServedStudy(StoredStudy):
    """A study of a service, `bo serve`, which several processes may share.

    Requests are repeated until the service answers, so results outlast a restart of it. The logger
    functionspace_bo warns meanwhile. Fits for recommend, predict, enqueue, pareto and html_report
    are made by this process, from a copy of the study.
    """

    def __init__(
        self,
        url: str,
        name: str,
        *,
        space: Space | None = None,
        token: str | os.PathLike[str] | None = None,
        ca: str | os.PathLike[str] | None = None,
    ) -> None:
        from ._service import Service  # imports the HTTP client

        self._open(Service(url, token, ca), name, space)

    def _open(self, service: Service, name: str, space: Space | None) -> None:
        check_name(name)
        self._service = service
        self.name = name
        self._definition = self._call("GetStudy")["definition"]
        if "seed" in self._definition:
            self._definition["seed"] = int(self._definition["seed"])
        self._parameters = _parameters(self._definition, space)
        self._outcomes = replace(
            Outcomes.of(self._definition),
            requirements=tuple(map(_requirement, self._definition.get("require", ()))),
        )
        self._cost = (self._definition.get("end") or {}).get("cost", "")
        self._leases = _Leases(service, name)

    @classmethod
    def _of_service(cls, service: Service, name: str, space: Space) -> ServedStudy:
        study = cls.__new__(cls)
        study._open(service, name, space)
        return study

    @classmethod
    def create(  # type: ignore[override]
        cls,
        url: str,
        name: str,
        /,
        space: Space,
        *,
        exist_ok: bool = False,
        token: str | os.PathLike[str] | None = None,
        ca: str | os.PathLike[str] | None = None,
        **options: Unpack[Options],
    ) -> ServedStudy:
        """Stores a new study and returns it; see Study.create."""
        from ._service import Service
        from ._study import Study

        check_name(name)
        definition = {**define(space, options)[0], "name": name}
        with Study._of(definition):  # StudyError if the definition is invalid
            pass
        service = Service(url, token, ca)
        if exist_ok:  # with a token of role work too
            try:
                study = cls._of_service(service, name, space)
            except CommandError as err:
                if _code_of(err) != "not_found":
                    raise
            else:
                study._warn_of_differences(definition)
                return study
        request = {"definition": _exact(definition), "key": _key()}
        try:
            service.call("CreateStudy", request)
        except ExistsError as err:
            if not exist_ok:
                raise ExistsError(f"{err}: use Study.open, or exist_ok=True") from err
            study = cls._of_service(service, name, space)
            study._warn_of_differences(definition)
            return study
        return cls._of_service(service, name, space)

    def _rows(self) -> list[dict[str, Any]]:
        document = json.loads(self._call("Export")["document"])
        objective = self._outcomes.goals[0].name
        steps: dict[tuple[int, int], list[dict[str, Any]]] = {}
        for s in document.get("steps") or ():
            if s["name"] == objective:
                value = s["value"] if abs(s["value"]) < MAX_VALUE else None
                row = {"step": s["step"], "value": value}
                steps.setdefault((s["trial"], s.get("attempt", 0)), []).append(row)
        return [
            {**t, "steps": steps.get((t["trial"], t.get("attempt", 0)), ())}
            for t in document["trials"]
        ]

    def _best(self) -> dict[str, Any]:
        best: list[dict[str, Any]] = self._call("GetStudy")["best"]
        if not best:
            raise NoValueError(f"study {self.name}: no trial is complete")
        return best[0]

    def _issued(self, n: int, given: Mapping[str, Any] | None, lease: str | None) -> list[Trial]:
        request: dict[str, Any] = {
            "n": n,
            "worker": f"{socket.gethostname()}/{os.getpid()}"[:64],
            "key": _key(),
        }
        if given:
            request["given"] = self._parameters.request(given)
        if lease is not None:
            request["lease"] = _seconds(lease)
        try:
            rows = self._call("Ask", request, _ASK)["trials"]
        except BoError:
            raise
        except BaseException:  # an interrupt, perhaps after the service has issued the trials
            withdrawal = {"study": self.name, "key": request["key"]}
            self._service.once("Release", withdrawal, _RELEASE)
            raise
        trials = []
        for row in rows:
            reporter = LocalReporter(self, row["trial"])
            self._leases.hold(row, reporter)
            trial = replace(self._trial(row), warnings=tuple(row.get("warnings", ())))
            trials.append(replace(trial, _reporter=reporter))
        return trials

    def _told(
        self,
        number: int,
        numbers: Mapping[str, float],
        note: str,
        at: Mapping[str, Any] | None,
        correct: bool,
    ) -> dict[str, Any]:
        result = {"numbers": numbers, "message": note}
        return self._recorded("Tell", number, result, at, correct)

    def _failed(
        self, number: int, message: str, at: Mapping[str, Any] | None, lost: bool, correct: bool
    ) -> dict[str, Any]:
        result = {"message": message, **({"failure": "lost"} if lost else {})}
        return self._recorded("Fail", number, result, at, correct)

    def _recorded(
        self,
        method: str,
        number: int,
        result: Mapping[str, Any],
        at: Mapping[str, Any] | None,
        correct: bool,
    ) -> dict[str, Any]:
        request = {**result, "trial": number, "key": _key(), "correct": correct}
        if at is not None:
            request["at"] = self._parameters.request(at)
        row: dict[str, Any] = self._call(method, request)["trial"]
        self._leases.drop(number)
        return row

    def _reported(self, number: int, step: float, value: float) -> bool:
        if not abs(step) <= MAX_VALUE:
            raise TrialError(f"step is not a usable number: {step}")
        request = {
            "trial": number,
            "token": self._leases.token(number),
            "steps": [{"step": step, "value": value if abs(value) <= MAX_VALUE else "NaN"}],
        }
        return bool(self._call("ReportSteps", request)["stop"])

    def _enqueued(self, point: Mapping[str, Any]) -> dict[str, Any]:
        try:
            return self._added(point)
        except RequestError:  # perhaps for lack of a value
            with self._local() as copy:
                return self._added(copy.enqueue(point).labelled())

    def _added(self, point: Mapping[str, Any]) -> dict[str, Any]:
        row: dict[str, Any] = self._call("Enqueue", {"points": [point], "key": _key()})["trials"][0]
        return row

    def __repr__(self) -> str:
        return f"<ServedStudy {self.name} of {self._service.url}>"

    def __reduce__(self) -> tuple[Any, ...]:
        service = self._service
        token = service.token if service.file is None else Path(service.file)
        opened = partial(ServedStudy, token=token, ca=service.ca)
        return opened, (service.url, self.name), {"_parameters": self._parameters}

    @contextmanager
    def _local(self) -> Iterator[StoredStudy]:
        document = self._call("Export")["document"]
        with tempfile.TemporaryDirectory() as folder:
            path, store = os.path.join(folder, "study.json"), os.path.join(folder, "bo.db")
            Path(path).write_text(document, encoding="utf-8")
            flags = ["--study", self.name, "--store", store]
            _run(["study", "import", path, *flags], hide=path + ": ")
            local = StoredStudy(store, self.name)
            local._parameters = self._parameters
            yield local

    def _call(
        self, method: str, request: Mapping[str, Any] | None = None, limit: float = 60.0
    ) -> Any:
        return self._service.call(method, {"study": self.name, **(request or {})}, limit)

    def _report(
        self, number: int, step: SupportsFloat, value: SupportsFloat, by: LocalReporter
    ) -> bool:
        """Is report, on behalf of a reporter. A trial with another result is stopped."""
        try:
            return self.report(number, step, value)
        except TrialError as err:
            if _code_of(err) == "already_exists" and self._leases.token(number):
                return True
            raise

    def _trial(self, row: Mapping[str, Any]) -> Trial:
        """Returns a trial of an answer, with its parameters in the order of the definition."""
        params: dict[str, Any] = row["params"]
        names = [name for name in self._parameters if name in params]
        row = {**row, "params": {**{name: params[name] for name in names}, **params}}
        numbers = {name: float(v) for name, v in (row.get("numbers") or {}).items()}
        if row.get("state") == "complete":
            first = self._outcomes.goals[0].name
            value = None if self._outcomes.several else numbers.get(first)
            feasible = self._outcomes.feasible(numbers)
            row = {**row, "value": value, "feasible": feasible}
        elif row.get("state") == "stopped":  # the worst value stands for NaN
            row = {**row, "numbers": {k: v for k, v in numbers.items() if abs(v) < MAX_VALUE}}
        return super()._trial(row)

    def _evaluation(self, target: Any, max_failures: Any) -> tuple[list[str], dict[str, str]]:
        for name, given in (("target", target), ("max_failures", max_failures)):
            if given is not None:
                raise StudyError(
                    f"{name} is for a study in a store: state it in end when you create the "
                    f'study, as in end={{"{name}": {given}}}'
                )
        flags = ["--server", self._service.url]
        if self._service.ca is not None:
            flags += ["--ca", self._service.ca]
        if self._service.file is not None:
            flags += ["--token-file", self._service.file]
        return flags, {"BO_TOKEN": self._service.token}


@dataclass
class _Held:
    """A trial under a lease that this process extends."""

    token: str
    every: float  # seconds between heartbeats; 0 for a lease that is not extended
    reporter: LocalReporter
    lost: bool = False


class _Leases:
    """Extends the leases of trials without a result, in a thread while there are any.

    At the end of the process it returns them to the study.
    """

    def __init__(self, service: Service, study: str) -> None:
        self._service = service
        self._study = study
        self._after_fork()
        on_fork(self)

    def _after_fork(self) -> None:
        """Leaves the trials to the process that asked for them."""
        self._lock = threading.Lock()
        self._held: dict[int, _Held] = {}
        self._beating = False

    def hold(self, assignment: Mapping[str, Any], reporter: LocalReporter) -> None:
        """Begins to extend the lease of an assignment."""
        every = float((assignment.get("heartbeat") or "0s").removesuffix("s"))
        with self._lock:
            if not self._held:
                atexit.register(self._release)
            self._held[assignment["trial"]] = _Held(assignment["token"], every, reporter)
            begins = every > 0 and not self._beating
            self._beating = self._beating or begins
        if begins:
            threading.Thread(target=self._beat, daemon=True).start()

    def token(self, number: int) -> str:
        """Returns the token of the attempt at a trial, "" if this process has none."""
        with self._lock:
            return self._held[number].token if number in self._held else ""

    def drop(self, number: int) -> None:
        """Ends the lease of a trial, which has a result."""
        with self._lock:
            self._held.pop(number, None)
            if not self._held:
                atexit.unregister(self._release)

    def _beat(self) -> None:
        """Extends leases until no trial needs it. A lease outlasts three heartbeats."""
        pause = threading.Event()
        answered = True
        while True:
            with self._lock:
                beats = [h.every for h in self._held.values() if h.every > 0 and not h.lost]
                if not beats:
                    self._beating = False
                    return
            every = min(beats)
            pause.wait(every if answered else every / 4)
            attempts = self._attempts()
            request = {"study": self._study, "attempts": attempts}
            answer = self._service.once("Heartbeat", request, 2 * every)
            answered = answer is not None
            lost = answer["lost"] if answered else []
            tokens = {a["trial"]: a["token"] for a in attempts}
            with self._lock:
                for number in lost:
                    held = self._held.get(number)
                    if held is not None and held.token == tokens[number]:
                        held.lost = held.reporter.stopped = True

    def _attempts(self) -> list[dict[str, Any]]:
        """Returns the attempts whose leases are extended."""
        with self._lock:
            return [
                {"trial": number, "token": h.token}
                for number, h in self._held.items()
                if h.every > 0 and not h.lost
            ]

    def _release(self) -> None:
        """Returns the trials to the study."""
        if attempts := self._attempts():
            request = {"study": self._study, "attempts": attempts}
            self._service.once("Release", request, _RELEASE)


def _code_of(err: BoError) -> str:
    """Returns the code of an error of the service, "" for other errors."""
    return str(getattr(err.__cause__, "code", ""))


def _key() -> str:
    """Returns the key of a request, which is applied once however often it is repeated."""
    return secrets.token_hex(16)


def _requirement(text: str) -> Requirement:
    """Returns a condition of require, which the service has checked."""
    name, sense, bound = re.split("([<>]=)", text, maxsplit=1)
    return Requirement(name.strip(), float(bound), sense == ">=")


def _exact(definition: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a definition in the form of a request."""
    seed = definition.get("seed")
    large = isinstance(seed, int) and seed > _EXACT
    return {**definition, **({"seed": str(seed)} if large else {})}


def _seconds(lease: Any) -> str:
    """Returns a lease such as "24h" or "1h30m" in the form of a request."""
    seconds = 0.0
    if isinstance(lease, str) and _LEASE.fullmatch(lease):
        seconds = sum(float(number) * _UNITS[unit] for number, unit in _PART.findall(lease))
    if not 0 < seconds < _LONGEST:
        raise RequestError(f"the lease is {lease!r}, want a positive time such as '24h'")
    return f"{seconds:.9f}".rstrip("0").rstrip(".") + "s"
