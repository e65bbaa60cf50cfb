"""Several tables in the order of time, so that what ended at one time is added up together.

A timeline keeps the histograms of its newest bins only, so rows of a table that is read much later
than another one would be missing from the sum of all operations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

import numpy as np

from dyno.live.bins import NS
from dyno.live.operations import HELD
from dyno.live.sampled import numbers

if TYPE_CHECKING:
    import pyarrow as pa

_AHEAD_NS = HELD * NS // 2
"""How far a table may get ahead of the others."""
_NEVER = np.iinfo(np.int64).max - _AHEAD_NS


class Course:
    """The rows of a table that were not added yet."""

    def __init__(
        self,
        batches: Iterable[pa.RecordBatch],
        time: str,
        add: Callable[[pa.RecordBatch], None],
        noted: Callable[[], AbstractContextManager[None]],
    ) -> None:
        """Reads nothing yet.

        Args:
            batches: The rows, about in the order of time.
            time: The column with their times, in ns.
            add: Adds rows.
            noted: Notes what cannot be read, which ends the table.
        """
        self._batches, self._time, self._add, self._noted = iter(batches), time, add, noted
        self._rest: pa.RecordBatch | None = None
        self._times = np.empty(0, np.int64)

    def fill(self) -> bool:
        """Reads a batch if no row is left; returns whether there is a row."""
        with self._noted():
            while not len(self._times):
                self._rest = next(self._batches, None)
                if self._rest is None:
                    return False
                self._times = np.maximum.accumulate(numbers(self._rest, self._time, np.int64))
            return True
        return False

    @property
    def next_ns(self) -> int:
        """The time of the next row."""
        return int(self._times[0])

    def add(self, until_ns: int) -> None:
        """Adds the rows up to a time."""
        if self._rest is None:
            return
        count = int(self._times.searchsorted(until_ns, "right"))
        now, self._rest = self._rest.slice(0, count), self._rest.slice(count)
        self._times = self._times[count:]
        with self._noted():
            self._add(now)
            return
        self._batches, self._times = iter(()), self._times[:0]


def added(courses: Iterable[Course]) -> Iterator[None]:
    """Adds the rows of all, and stops after each part."""
    while courses := [one for one in courses if one.fill()]:
        first, *others = sorted(courses, key=lambda one: one.next_ns)
        first.add(min((one.next_ns for one in others), default=_NEVER) + _AHEAD_NS)
        yield
