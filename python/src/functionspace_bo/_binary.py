"""Finds the `bo` executable that the wheel carries."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from .errors import ProcessError

_NAME = "bo.exe" if sys.platform == "win32" else "bo"


def find_binary() -> str:
    """Returns the path of the `bo` executable.

    The environment variable BO_BINARY comes first, then the executable in the wheel, then
    PATH.
    """
    given = os.environ.get("BO_BINARY")
    if given:
        return given
    packaged = Path(__file__).parent / "bin" / _NAME
    if packaged.is_file():
        return str(packaged)
    found = shutil.which(_NAME)
    if found is None:
        raise ProcessError(f"there is no executable {packaged}: install a wheel, or set BO_BINARY")
    return found
