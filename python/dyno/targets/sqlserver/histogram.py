"""The server's histograms as common values and bounds. Pure.

Source: Microsoft, "sys.dm_db_stats_histogram (Transact-SQL)".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

BOUNDS = 100
"""The most intervals that are made of a histogram, which has up to 200 steps."""
_COMMON = 0.01
"""A value is common if it has this share of the rows."""


class Step(NamedTuple):
    """A step: its highest value, rows below and at it, and different values below."""

    high: str
    below: float
    at: float
    distinct: float


def distinct(steps: Sequence[Step]) -> float:
    """The different values of a column."""
    return sum(step.distinct + 1 for step in steps)


def common(steps: Sequence[Step]) -> Mapping[str, float]:
    """Values with many rows, and their share of all rows."""
    rows = sum(step.below + step.at for step in steps)
    return {step.high: step.at / rows for step in steps if rows and step.at >= _COMMON * rows}


def bounds(steps: Sequence[Step], intervals: int = BOUNDS) -> tuple[str, ...]:
    """Values between which lie about equal numbers of rows, from the lowest to the highest.

    The highest values of steps, so an interval is as exact as a step.
    """
    rows = sum(step.below + step.at for step in steps)
    if len(steps) < 2 or not rows:
        return ()
    found = [steps[0].high]
    passed = 0.0
    wanted = 1
    for step in steps:
        passed += step.below + step.at
        if passed >= wanted * rows / intervals:
            if step.high != found[-1]:
                found.append(step.high)
            wanted = int(passed * intervals / rows) + 1
    return tuple(found)
