"""A sliding window: partitions are filled apart, attached, and detached again once they are old.

The window is a table of its own with rows of the workload's largest table, so neither the data of
the workload nor its answers change. A killed run leaves it behind, marked; the next one drops it.
"""

from __future__ import annotations

import statistics
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Literal, TypeVar

from dyno.bundle.model import Check
from dyno.contracts.target import Progress
from dyno.errors import DynoError, Interrupted

WINDOW = "dyno_window"
COLUMN = "slice_no"
KEPT = 4
"""Partitions in the window."""
SLIDES = 4
"""Partitions that come and go in a round, beyond those that fill the window."""
SHARE = 16
"""A partition has the rows of the source divided by this."""

T = TypeVar("T")

Step = Literal["fill", "attach", "detach", "drop"]


class SlidingWindow(ABC):
    """Base of the jobs: one round makes the window, slides it and drops it.

    Attributes:
        target: Name of the target, for the check.
    """

    target: str

    def __init__(self) -> None:
        self._seconds: dict[Step, list[float]] = {}

    @property
    def step_seconds(self) -> dict[str, float]:
        """Median seconds of each step so far."""
        return {name: statistics.median(times) for name, times in self._seconds.items()}

    def run(self, stop: threading.Event, progress: Progress) -> list[Check]:
        """Slides the window once through all partitions, and counts its rows."""
        total = KEPT + SLIDES
        self._do(stop, self.clear)
        rows = self._do(stop, self.create)
        for number in range(1, total + 1):
            progress(number - 1, total, f"partition {number}")
            self._timed("fill", number, stop, self.fill)
            self._timed("attach", number, stop, self.attach)
            if number > KEPT:
                self._timed("detach", number - KEPT, stop, self.detach)
                self._timed("drop", number - KEPT, stop, self.drop)
        found, first, last = self._do(stop, self.counted)
        self._do(stop, self.clear)
        progress(total, total, "")
        passed = (found, first, last) == (KEPT * rows, total - KEPT + 1, total)
        message = f"{found:,} rows in partitions {first} to {last}, of {rows:,} rows each"
        name = "sliding-window"
        return [Check(name=name, target=self.target, passed=passed, message=message)]

    @abstractmethod
    def create(self) -> int:
        """Creates the empty window; returns the rows of a partition."""

    @abstractmethod
    def fill(self, number: int) -> None:
        """Fills the table of a partition, which is not yet in the window."""

    @abstractmethod
    def attach(self, number: int) -> None:
        """Makes it a partition of the window."""

    @abstractmethod
    def detach(self, number: int) -> None:
        """Makes a partition of the window a table of its own."""

    @abstractmethod
    def drop(self, number: int) -> None:
        """Drops this table."""

    @abstractmethod
    def counted(self) -> tuple[int, int, int]:
        """The rows of the window, its first and its last partition."""

    @abstractmethod
    def clear(self) -> None:
        """Drops the window and all tables of partitions."""

    def _timed(
        self, step: Step, number: int, stop: threading.Event, work: Callable[[int], None]
    ) -> None:
        start = time.monotonic()
        self._do(stop, lambda: work(number))
        self._seconds.setdefault(step, []).append(time.monotonic() - start)

    def _do(self, stop: threading.Event, work: Callable[[], T]) -> T:
        if stop.is_set():
            raise Interrupted("The sliding window was stopped.")
        try:
            return work()
        except DynoError as error:
            if stop.is_set():
                raise Interrupted("The sliding window was stopped.") from error
            raise


def slice_name(number: int) -> str:
    """The table of a partition."""
    return f"{WINDOW}_{number}"
