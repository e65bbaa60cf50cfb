"""Random choices that are the same for a seed on every machine and Python version."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import date
from typing import TypeVar

T = TypeVar("T")


class Picker:
    """Uniform choices. Uses only ``random()``, whose sequence is stable across Python versions."""

    def __init__(self, seed: str) -> None:
        self._uniform = random.Random(seed).random  # noqa: S311  (parameters, no secrets)

    def whole(self, low: int, high: int) -> int:
        """An integer from ``low`` to ``high``, inclusive."""
        return low + int(self._uniform() * (high - low + 1))

    def one(self, values: Sequence[T]) -> T:
        """One of ``values``."""
        return values[self.whole(0, len(values) - 1)]

    def several(self, values: Sequence[T], count: int) -> list[T]:
        """``count`` distinct ``values``.

        Raises:
            IndexError: If there are fewer.
        """
        left = list(values)
        return [left.pop(self.whole(0, len(left) - 1)) for _ in range(count)]

    def month(self, first: tuple[int, int], last: tuple[int, int]) -> str:
        """The first day of a month between two (year, month), inclusive, as ISO text."""
        (first_year, first_month), (last_year, last_month) = first, last
        months = self.whole(first_year * 12 + first_month - 1, last_year * 12 + last_month - 1)
        return date(months // 12, months % 12 + 1, 1).isoformat()

    def year(self, first: int, last: int) -> str:
        """1 January of a year from ``first`` to ``last``, inclusive, as ISO text."""
        return date(self.whole(first, last), 1, 1).isoformat()
