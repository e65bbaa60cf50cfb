"""Stalls: consecutive intervals without completed operations, and their significance."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

FEWEST_EXPECTED = 20.0
"""Minimum number of expected transactions at which a stall is significant."""


def stretches(values: Iterable[float]) -> Iterable[tuple[int, int]]:
    """Yields start index and length of each run of zeros."""
    place = 0
    for zero, run in itertools.groupby(values, key=lambda value: value <= 0):
        count = sum(1 for _ in run)
        if zero:
            yield place, count
        place += count
