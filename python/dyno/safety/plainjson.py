"""JSON as its standard has it, in bundles of others and in what Dyno prints.

Python reads and writes ``NaN`` and ``Infinity``, which other readers refuse, and takes 1e999 for
infinite. Such numbers, and those that no counter holds, say nothing: they become null.
"""

from __future__ import annotations

import json
import math
from typing import Any

LARGEST = 1 << 64
"""No counter goes beyond."""
_DIGITS = 20


def loads(text: str | bytes) -> Any:
    """What a JSON text says; numbers that are not finite, or beyond ``LARGEST``, are None.

    Raises:
        ValueError: If it is not JSON.
        RecursionError: If it is nested too deep.
    """
    return json.loads(text, parse_constant=lambda _: None, parse_float=_float, parse_int=_int)


def dumps(value: Any) -> str:
    """A document as indented JSON; numbers that are not finite are null."""
    try:
        return json.dumps(value, indent=1, allow_nan=False)
    except ValueError:  # rare, so that only then each number is looked at
        return json.dumps(loads(json.dumps(value)), indent=1, allow_nan=False)


def _float(text: str) -> float | None:
    number = float(text)
    return number if math.isfinite(number) and abs(number) <= LARGEST else None


def _int(text: str) -> int | None:
    return int(text) if len(text.lstrip("-")) <= _DIGITS else None
