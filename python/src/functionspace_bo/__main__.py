"""Runs the `bo` command: `python -m functionspace_bo run study.yaml`."""

from __future__ import annotations

import os
import subprocess
import sys

from ._binary import find_binary
from .errors import ProcessError


def main() -> None:
    """Replaces this process by `bo` with the same arguments."""
    try:
        command = [find_binary(), *sys.argv[1:]]
    except ProcessError as err:
        sys.exit(f"bo: {err}")
    if sys.platform != "win32":
        os.execv(command[0], command)
    process = subprocess.Popen(command)
    while True:
        try:
            sys.exit(process.wait())
        except KeyboardInterrupt:
            continue  # bo receives it too, and ends


if __name__ == "__main__":
    main()
