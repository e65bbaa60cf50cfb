"""Stretches of intervals in which nothing ended, and when such a one is no chance."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

FEWEST_EXPECTED = 20.0
"""Where so many transactions were to be expected and none ended, that is no chance."""


def stretches(values: Iterable[float]) -> Iterable[tuple[int, int]]:
    """First place and length of each run of zeros."""
    place = 0
    for zero, run in itertools.groupby(values, key=lambda value: value <= 0):
        count = sum(1 for _ in run)
        if zero:
            yield place, count
        place += count
