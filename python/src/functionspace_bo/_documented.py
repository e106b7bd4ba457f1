"""Docstrings that list the options of the study file."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import Any, TypeVar

from ._options import HELP

_Documented = TypeVar("_Documented", bound=Callable[..., Any])

_MARK = "{options}"


def with_options(*without: str) -> Callable[[_Documented], _Documented]:
    """Writes all options but the given ones at the mark {options} of a docstring."""

    def fill(thing: _Documented) -> _Documented:
        text = thing.__doc__ or ""  # none with python -OO
        for line in text.splitlines():
            if line.strip() == _MARK:
                indent = line[: line.index(_MARK)]
                listed = [
                    textwrap.fill(
                        f"{key}: {description}",
                        width=99,
                        initial_indent=indent,
                        subsequent_indent=indent + "    ",
                    )
                    for key, description in HELP.items()
                    if key not in without
                ]
                thing.__doc__ = text.replace(line, "\n".join(listed))
        return thing

    return fill
