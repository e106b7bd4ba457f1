"""Requests to `bo serve`, which are repeated until it answers."""

from __future__ import annotations

import ipaddress
import json
import os
import random
import ssl
import threading
import time
import warnings
from collections.abc import Mapping
from contextlib import suppress
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import (
    HTTPHandler,
    HTTPRedirectHandler,
    HTTPSHandler,
    OpenerDirector,
    ProxyHandler,
    Request,
    build_opener,
)

from ._binary import in_python
from ._run import logger
from .errors import (
    BoError,
    CommandError,
    ExhaustedError,
    ExistsError,
    RequestError,
    StudyError,
    TrialError,
)

_FIRST_PAUSE = 0.1
_MAX_PAUSE = 10.0
_START = 10.0  # seconds in which the first request is repeated: the service may be starting
_REFUSAL = 300.0  # seconds in which a refused request is repeated if the token was valid before
_QUIET = 10.0  # seconds between two warnings
_TEXT = 200  # characters of an answer that is not the service's

_TEMPORARY = {
    "unavailable",
    "unknown",
    "deadline_exceeded",
    "resource_exhausted",
    "aborted",
    "internal",
    "canceled",
}
"""The codes of errors after which a request is repeated."""

_STATUS = {
    401: "unauthenticated",
    403: "permission_denied",
    404: "unimplemented",
    405: "unimplemented",
    413: "failed_precondition",
    415: "failed_precondition",
    421: "failed_precondition",
    429: "unavailable",
    502: "unavailable",
    503: "unavailable",
    504: "unavailable",
}
"""The codes of answers without one, which a proxy or another program gave."""

_KINDS: dict[tuple[str, str], type[BoError]] = {
    ("Ask", "invalid_argument"): RequestError,
    ("Ask", "out_of_range"): ExhaustedError,
    ("CreateStudy", "already_exists"): ExistsError,
    ("CreateStudy", "invalid_argument"): StudyError,
    ("Enqueue", "invalid_argument"): RequestError,
    ("Enqueue", "out_of_range"): ExhaustedError,
    ("Fail", "already_exists"): TrialError,
    ("Fail", "invalid_argument"): TrialError,
    ("ReportSteps", "already_exists"): TrialError,
    ("ReportSteps", "invalid_argument"): TrialError,
    ("Tell", "already_exists"): TrialError,
    ("Tell", "invalid_argument"): TrialError,
}
"""The exceptions for the codes of methods. CommandError is for all others."""


class RefusedError(Exception):
    """An answer with an error, or no answer."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class Service:
    """The methods of a service. Each request is repeated until it is answered.

    The first one is repeated for ten seconds: the service may be starting.
    """

    def __init__(
        self,
        url: str,
        token: str | os.PathLike[str] | None = None,
        ca: str | os.PathLike[str] | None = None,
    ) -> None:
        self.url = _checked(url)
        self.token = _token(token)
        self.file = None if token is None or isinstance(token, str) else os.path.abspath(token)
        self.ca = None if ca is None else os.path.abspath(ca)
        self._opener = _opener(self.url, self.ca)
        self._admitted = False  # a request was answered, so the address and the token were valid
        self._warned = -_QUIET
        self._lock = threading.Lock()
        if self.token and self.url.lower().startswith("http:") and not _loopback(self.url):
            warnings.warn("the token travels unencrypted: use https", stacklevel=4)

    def call(self, method: str, request: Mapping[str, Any], limit: float = 60.0) -> Any:
        """Returns the answer to a request, each of whose attempts may take limit seconds.

        The request has a key if it must not be applied twice.
        """
        begun, pause = time.monotonic(), _FIRST_PAUSE
        while True:
            try:
                answer = self._post(
                    method, request, limit if self._admitted else min(limit, _START)
                )
                self._admitted = True
                return answer
            except RefusedError as err:
                late = time.monotonic() - begun
                if err.code == "unauthenticated":
                    repeats = self._admitted and late < _REFUSAL
                else:
                    repeats = err.code in _TEMPORARY and (self._admitted or late < _START)
                if not repeats:
                    raise self._error(method, err) from err
                self._warn(err)
            time.sleep(pause * random.uniform(0.5, 1.5))  # many clients spread
            pause = min(2 * pause, _MAX_PAUSE)

    def once(self, method: str, request: Mapping[str, Any], limit: float) -> Any:
        """Returns the answer to a request that is not repeated, None after an error."""
        with suppress(RefusedError):
            return self._post(method, request, limit)
        return None

    def _post(self, method: str, request: Mapping[str, Any], limit: float) -> Any:
        """Returns the answer to a request, or raises RefusedError.

        The file of a token is read again if the service refuses the token.
        """
        used = self.token
        try:
            return self._sent(method, request, limit)
        except RefusedError as err:
            if err.code != "unauthenticated" or self.file is None:
                raise
            with suppress(RequestError):  # the file is being replaced
                self.token = _token(Path(self.file))
            if self.token == used:
                raise
        return self._sent(method, request, limit)

    def _sent(self, method: str, request: Mapping[str, Any], limit: float) -> Any:
        """Returns the answer to a request with the present token, or raises RefusedError."""
        headers = {
            "Content-Type": "application/json",
            "Connect-Protocol-Version": "1",
            "Connect-Timeout-Ms": str(int(limit * 1000)),
        }
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        body = json.dumps(request, allow_nan=False).encode()
        address = f"{self.url}/bo.v1.StudyService/{method}"
        try:
            with self._opener.open(Request(address, body, headers), timeout=limit) as response:
                kind, text = response.headers.get_content_type(), response.read()
        except HTTPError as err:
            raise _refused(err) from None
        except (OSError, HTTPException) as err:
            raise _unreached(err) from None
        with suppress(ValueError):
            if kind == "application/json" and isinstance(answer := json.loads(text), dict):
                return answer
        raise RefusedError("unknown", "the answer is not an answer of bo serve")

    def _warn(self, err: RefusedError) -> None:
        """Logs a request that is repeated, once in ten seconds."""
        with self._lock:
            now = time.monotonic()
            if now - self._warned < _QUIET:
                return
            self._warned = now
        logger.warning("%s: %s; trying again", self.url, err)

    def _error(self, method: str, err: RefusedError) -> BoError:
        """Returns the exception for an error that is not temporary."""
        text = in_python(str(err)).replace("loop: ", "")  # a package of Go
        if err.code == "not_found":
            return TrialError(text) if "no such trial" in text else CommandError(text)
        if kind := _KINDS.get((method, err.code)):
            return kind(text)
        return CommandError(f"{self.url}: {text}")


def _checked(url: str) -> str:
    """Returns the address of a service, or raises RequestError."""
    want = "want https://HOST, with a port or a path if the service has one"
    try:
        parts = urlsplit(url)
        (parts.hostname or "").encode("idna")  # UnicodeError
        valid = bool(parts.hostname) and parts.port != 0 and parts.path.isascii()
        valid = valid and url.isprintable() and " " not in url
    except ValueError:
        valid = False
    if not valid:
        raise RequestError(f"{url!r} is no address of a service, {want}")
    if parts.username or parts.query or parts.fragment:  # perhaps with a password
        raise RequestError(f"the address of the service has a user or a query, {want}")
    return url.rstrip("/")


def _token(token: str | os.PathLike[str] | None) -> str:
    """Returns the token in an argument, in a file, or in BO_TOKEN; "" is none."""
    if token is None:
        text = os.environ.get("BO_TOKEN", "")
    elif isinstance(token, str):
        text = token
    else:
        try:
            text = Path(token).read_text(encoding="utf-8")
        except (OSError, ValueError) as err:
            raise RequestError(f"token: {os.fspath(token)} cannot be read: {err}") from None
        if not text.strip():
            raise RequestError(f"token: {os.fspath(token)} has no token")
    text = text.strip()
    if not text.isascii() or not text.isprintable() or " " in text:
        raise RequestError("the token is no single word, want the text that bo token add printed")
    return text


def _opener(url: str, ca: str | None) -> OpenerDirector:
    """Returns an opener without redirections, which would send the token to another address."""
    handlers: list[Any] = [_NoRedirects, HTTPHandler]
    if _loopback(url):
        handlers.append(ProxyHandler({}))
    if url.lower().startswith("https:"):
        context = ssl.create_default_context()
        if ca is not None:
            try:
                context.load_verify_locations(ca)
            except (OSError, ssl.SSLError) as err:
                raise RequestError(f"ca: {ca} is no file with certificates (PEM): {err}") from None
        handlers.append(HTTPSHandler(context=context))
    return build_opener(*handlers)


class _NoRedirects(HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        """Returns no request, so that the answer is an error."""


def _loopback(url: str) -> bool:
    """Reports whether an address is on this machine."""
    host = urlsplit(url).hostname or ""
    with suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return host.lower() == "localhost"


def _unreached(err: Exception) -> RefusedError:
    """Returns the error of a request without a complete answer."""
    reason = err.reason if isinstance(err, URLError) else err
    if isinstance(reason, ssl.SSLCertVerificationError):
        text = reason.verify_message
        return RefusedError(
            "unauthenticated",
            f"the certificate is not valid: {text} (ca names the file of your own authority)",
        )
    if isinstance(reason, TimeoutError):
        return RefusedError("deadline_exceeded", "no answer in time")
    text = getattr(reason, "strerror", None) or str(reason) or type(reason).__name__
    return RefusedError("unavailable", text)


def _refused(err: HTTPError) -> RefusedError:
    """Returns the error of an answer, which a proxy or another program may have given."""
    with err:
        try:
            body = err.read()
        except (OSError, HTTPException) as broken:
            return _unreached(broken)
    with suppress(ValueError, AttributeError):
        answer = json.loads(body)
        if code := answer.get("code"):
            return RefusedError(str(code), answer.get("message") or str(code))
    text = " ".join(body.decode(errors="replace").split())[:_TEXT]
    code = _STATUS.get(err.code, "unknown")
    if to := err.headers.get("Location"):
        code, text = "unimplemented", f"the service has the address {to}"
    return RefusedError(code, f"{err.code} {err.reason}: {text}")
