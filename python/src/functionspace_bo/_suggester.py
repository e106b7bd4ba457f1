"""Suggestions for histories that another program keeps, from one `bo suggest` process."""

from __future__ import annotations

import itertools
import json
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from ._process import Process
from ._space import Float
from .errors import ProcessError

_WARM = 32  # warm starts that are kept


class Suggester:
    """Asks for one point at a time, for the whole history in each call.

    If a call has the study of the call before, only the trials that changed are sent. The caller
    makes sure that calls run one after another. A process that ended is replaced.
    """

    def __init__(self) -> None:
        self._process = Process("suggest", "--pipe")
        self._warm: OrderedDict[str, Any] = OrderedDict()
        self._key = ""  # of the study that the process has
        self._sent: list[dict[str, Any]] = []  # the trials that the process has

    def ask(
        self,
        study: str,
        definition: dict[str, Any],
        trials: list[dict[str, Any]],
        given: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Returns the next point of a study with a definition and a history, and with given values.

        The fit starts from the latest fit for the study and the definition.
        """
        key = json.dumps([study, definition])
        wanted = {"given": given} if given else {}
        answer = self._continue(key, trials, wanted)
        if answer is None:
            request: dict[str, Any] = {"study": definition, "trials": trials, **wanted}
            if key in self._warm:
                request["warm"] = self._warm[key]
            self._key = ""
            answer = self._exchange(request)
        self._key, self._sent = key, trials
        if "warm" in answer:
            self._warm[key] = answer["warm"]
            self._warm.move_to_end(key)
            if len(self._warm) > _WARM:
                self._warm.popitem(last=False)
        point: dict[str, Any] = answer["points"][0]["params"]
        return point

    def _continue(
        self, key: str, trials: list[dict[str, Any]], wanted: dict[str, Any]
    ) -> dict[str, Any] | None:
        """Returns the answer to a request with the changes, or None if all must be sent."""
        if key != self._key or len(trials) < len(self._sent):
            return None
        pairs = itertools.zip_longest(trials, self._sent)
        changed = [
            {"trial": i, **t} for i, (t, old) in enumerate(pairs, 1) if t is not old and t != old
        ]
        request = {"trials": changed, **wanted}
        self._key = ""
        try:
            return None if self._process.start() else self._process.ask(request)
        except ProcessError:
            return None

    def check(self, options: dict[str, Any]) -> None:
        """Raises StudyError if options are invalid in every space."""
        surrogate = options.get("surrogate")
        if isinstance(surrogate, dict):  # lengthscales depend on the number of parameters
            surrogate = {k: v for k, v in surrogate.items() if k != "lengthscale"}
            options = {**options, "surrogate": surrogate}
        self._key = ""
        parameters = [{"name": "x", **Float(0, 1).definition()}]
        self._exchange({"study": {**options, "parameters": parameters}, "action": "check"})

    def _exchange(self, request: dict[str, Any]) -> dict[str, Any]:
        try:
            self._process.start()
            return self._process.ask(request)
        except ProcessError:  # the request has all data, so another process can answer it
            self._process.start()
            return self._process.ask(request)

    def close(self) -> None:
        """Ends the process. The next request starts another."""
        self._process.close()

    def __getstate__(self) -> dict[str, Any]:
        return {"_warm": self._warm}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._process = Process("suggest", "--pipe")
        self._warm = state["_warm"]
        self._key, self._sent = "", []
