"""Builds the `bo` command for the tests, unless BO_BINARY names one or a wheel is installed."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from functionspace_bo._binary import find_binary

ROOT = Path(__file__).resolve().parents[2]


def go_build(package: str, folder: Path) -> str:
    """Returns the path of the program of a package of this repository."""
    target = folder / (Path(package).name + (".exe" if sys.platform == "win32" else ""))
    subprocess.run(["go", "build", "-o", str(target), package], cwd=ROOT, check=True)
    return str(target)


@pytest.fixture(scope="session", autouse=True)
def _binary(tmp_path_factory: pytest.TempPathFactory) -> None:
    if "BO_BINARY" not in os.environ:
        os.environ["BO_BINARY"] = go_build("./cmd/bo", tmp_path_factory.mktemp("bin"))


class Server:
    """A `bo serve` with a store in a folder. It keeps its port when it is started again."""

    def __init__(self, folder: Path, *flags: str) -> None:
        self._folder, self._flags = folder, flags
        self._address = "127.0.0.1:0"
        self.start()

    def start(self) -> None:
        command = [find_binary(), "serve", "--store", "bo.db", "--listen", self._address, "--quiet"]
        self._process = subprocess.Popen(
            [*command, *self._flags],
            cwd=self._folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self._process.stdout is not None
        self.url = self._process.stdout.readline().split(" on ")[1].strip()
        self._address = self.url.split("://")[1]

    def kill(self) -> None:
        self._process.kill()
        self._process.communicate()

    def restart(self, seconds: float) -> None:
        """Kills the service, and starts it again after a while."""
        self.kill()
        threading.Timer(seconds, self.start).start()
