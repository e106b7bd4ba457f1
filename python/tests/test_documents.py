"""The Python programs of the documents run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import Server

ROOT = Path(__file__).resolve().parents[2]
PAGES = ("README.md", "docs/guide.md", "python/README.md")


def programs(page: str) -> list[str]:
    """Returns the programs of a page, in order."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.findall(r"^```python[^\n]*\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("page", PAGES)
def test_programs(page: str, tmp_path: Path) -> None:
    """The programs of a page run one after another, in one directory. BO_SERVER is a service."""
    server = Server(tmp_path)
    try:
        run_programs(page, tmp_path, server.url)
    finally:
        server.kill()


def run_programs(page: str, folder: Path, url: str) -> None:
    path = os.pathsep.join(p for p in sys.path if p)
    assert programs(page)
    for text in programs(page):
        done = subprocess.run(
            [sys.executable, "-W", "error", "-"],
            input=text,
            capture_output=True,
            text=True,
            check=False,
            cwd=folder,
            timeout=120,
            env={**os.environ, "PYTHONPATH": path, "BO_SERVER": url},
        )
        assert done.returncode == 0, done.stderr
