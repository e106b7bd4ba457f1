"""Builds the `bo` command for the tests, unless BO_BINARY names one or a wheel is installed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

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
