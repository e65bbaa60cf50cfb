"""Numbers with a unit in files of users: ``25 TB``, ``468 Q/h/TB``."""

from __future__ import annotations

import math
import re
from typing import Annotated

from pydantic import AfterValidator

_NUMBER = re.compile(r"(?P<number>[0-9][0-9,]*(\.[0-9]+)?)\s*(?P<unit>\S*)")
_TB = {"MB": 1e-6, "GB": 1e-3, "TB": 1.0, "PB": 1e3}
_RATE = {"Q/h/TB": 1.0}


def terabytes(text: str) -> float:
    """TB (10^12 bytes) of ``25 TB``; also MB, GB and PB.

    Raises:
        ValueError: If the unit is missing or unknown, or the number is not above 0.
    """
    return _read(text, _TB, "25 TB")


def rate(text: str) -> float:
    """Queries per hour and TB of ``468 Q/h/TB``.

    Raises:
        ValueError: If the unit is missing or unknown, or the number is not above 0.
    """
    return _read(text, _RATE, "468 Q/h/TB")


def _read(text: str, units: dict[str, float], example: str) -> float:
    found = _NUMBER.fullmatch(text.strip())
    if found is None or found["unit"] not in units:
        why = "the unit is missing" if found is not None and not found["unit"] else "not valid"
        raise ValueError(f"{why}; write it like {example} (units: {', '.join(units)})")
    value = float(found["number"].replace(",", "")) * units[found["unit"]]
    if not (math.isfinite(value) and value > 0):
        raise ValueError(f"it must be above 0; write it like {example}")
    return value


def _checked_size(text: str) -> str:
    terabytes(text)
    return text


def _checked_rate(text: str) -> str:
    rate(text)
    return text


Size = Annotated[str, AfterValidator(_checked_size)]
"""An amount of data with its unit."""
Rate = Annotated[str, AfterValidator(_checked_rate)]
"""A throughput with its unit."""
