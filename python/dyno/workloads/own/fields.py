"""Types of values that several tables of such a file have."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator

NAME = re.compile(r"[a-z][a-z0-9_]{0,40}")


def _name(text: str) -> str:
    if not NAME.fullmatch(text):
        raise ValueError("it must be a lower-case name such as new_order")
    return text


def pair(value: Any) -> Any:
    """A list of two values as a pair."""
    if isinstance(value, list):
        if len(value) != 2:
            raise ValueError("it must have two values, such as [1, 100]")
        return tuple(value)
    return value


def two(value: Any) -> Any:
    """A list of two values as a pair, and nothing else."""
    if not isinstance(value, list):
        raise ValueError("it must have two values, such as [1, 100]")
    return pair(value)


Name = Annotated[str, AfterValidator(_name)]
Rows = Annotated[int | tuple[int, int] | None, BeforeValidator(pair)]
"""An expected number of rows, or least and greatest."""


def span(rows: int | tuple[int, int]) -> tuple[int, int]:
    """Least and greatest number of rows."""
    return rows if isinstance(rows, tuple) else (rows, rows)
