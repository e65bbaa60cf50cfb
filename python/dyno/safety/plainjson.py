"""Standard JSON, for untrusted bundles and for Dyno's own output.

Python reads and writes ``NaN`` and ``Infinity``, which other readers reject, and reads 1e999 as
infinite. Here such numbers, and numbers larger than any counter, become null.
"""

from __future__ import annotations

import json
import math
from typing import Any

LARGEST = 1 << 64
"""The largest value of a counter."""
_DIGITS = 20


def loads(text: str | bytes) -> Any:
    """Parses JSON; numbers that are not finite, or beyond ``LARGEST``, become None.

    Raises:
        ValueError: If it is not JSON.
        RecursionError: If it is nested too deeply.
    """
    return json.loads(text, parse_constant=lambda _: None, parse_float=_float, parse_int=_int)


def dumps(value: Any) -> str:
    """Returns indented JSON; numbers that are not finite become null."""
    try:
        return json.dumps(value, indent=1, allow_nan=False)
    except ValueError:  # rare, so only this case checks each number
        return json.dumps(loads(json.dumps(value)), indent=1, allow_nan=False)


def finite(value: object) -> float | None:
    """Returns ``value`` as a float if it is a finite number, else None."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:
        return None


def _float(text: str) -> float | None:
    number = float(text)
    return number if math.isfinite(number) and abs(number) <= LARGEST else None


def _int(text: str) -> int | None:
    return int(text) if len(text.lstrip("-")) <= _DIGITS else None
