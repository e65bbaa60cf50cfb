"""A sliding window: partitions are filled apart, attached, and detached again once they are old.

The window is a table of its own with rows of the workload's largest table, so neither the data of
the workload nor its answers change. A killed run leaves it behind, marked; the next one drops it.
"""

from __future__ import annotations

import statistics
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from typing import Any, Generic, Literal, TypeVar

from dyno.bundle.model import Check
from dyno.contracts import schema
from dyno.contracts.maintenance import SpaceEstimate
from dyno.contracts.target import Connection, Progress
from dyno.errors import DynoError, Interrupted
from dyno.targets import mark

WINDOW = "dyno_window"
COLUMN = "slice_no"
KEPT = 4
"""Partitions in the window."""
SLIDES = 4
"""Partitions that come and go in a round, beyond those that fill the window."""
SHARE = 16
"""A partition has the rows of the source divided by this."""

T = TypeVar("T")
Session = TypeVar("Session", bound=Connection)

Step = Literal["fill", "attach", "detach", "drop"]


class SlidingWindow(ABC, Generic[Session]):
    """Base of the jobs: one round makes the window, slides it and drops it.

    Attributes:
        target: Name of the target, for the check.
        count: The aggregate that counts rows, in SQL.
        source: The largest table of the workload that is not partitioned; its rows fill the
            partitions. Empty without one.
        estimate: Space of the window and of a partition that is being filled.
    """

    target: str
    count = "count(*)"

    def __init__(self, connect: Callable[[], Session], workload: str) -> None:
        """Opens a session.

        Args:
            connect: Opens one.
            workload: The workload whose rows it copies.

        Raises:
            TargetError: If the target fails.
        """
        self._seconds: dict[Step, list[float]] = {}
        self._connect, self._session = connect, connect()
        self._place = mark.schema_of(workload)
        self._comment = f"{mark.PREFIX}{workload} window"
        try:
            sizes = self.sizes()
        except BaseException:
            self._session.close()
            raise
        names = [name for name in schema.visible_names(workload) if name in sizes]
        self.source = max(names, key=lambda name: sizes[name], default="")
        self._rows = 0
        size = sizes.get(self.source, 0) * (KEPT + 1) // SHARE
        self.estimate = SpaceEstimate(
            size, f"{KEPT + 1} partitions with 1/{SHARE} of {self.source} each"
        )

    @property
    def step_seconds(self) -> dict[str, float]:
        """Median seconds of each step so far."""
        return {name: statistics.median(times) for name, times in self._seconds.items()}

    def run(self, stop: threading.Event, progress: Progress) -> list[Check]:
        """Slides the window once through all partitions, and counts its rows."""
        total = KEPT + SLIDES
        self._do(stop, self.clear)
        rows = self._do(stop, self._create)
        for number in range(1, total + 1):
            progress(number - 1, total, f"partition {number}")
            self._timed("fill", number, stop, self.fill)
            self._timed("attach", number, stop, self.attach)
            if number > KEPT:
                self._timed("detach", number - KEPT, stop, self.detach)
                self._timed("drop", number - KEPT, stop, self.drop)
        found, first, last = self._do(stop, self._counted)
        self._do(stop, self.clear)
        progress(total, total, "")
        passed = (found, first, last) == (KEPT * rows, total - KEPT + 1, total)
        message = f"{found:,} rows in partitions {first} to {last}, of {rows:,} rows each"
        name = "sliding-window"
        return [Check(name=name, target=self.target, passed=passed, message=message)]

    def clear(self) -> None:
        """Drops the window and all tables of partitions."""
        self._clear(self._session)

    def drop(self, number: int) -> None:
        """Drops the table of a partition."""
        self.run_sql(f"DROP TABLE {self.named(slice_name(number))}")

    def space(self) -> int | None:
        """None: the space is the estimate's, and is not sampled."""
        return None

    def cancel(self) -> None:
        """Stops the running statement; the server rolls it back."""
        self._session.cancel()

    def close(self) -> None:
        """Drops what a stopped run left, and ends the session."""
        self._session.close()
        # The working session may still be busy, or broken.
        with suppress(DynoError), closing(self._connect()) as session:
            self.limit(session)
            self._clear(session)

    @abstractmethod
    def sizes(self) -> Mapping[str, int]:
        """Bytes of the tables in the workload's schema that are not partitioned."""

    @abstractmethod
    def quoted(self, name: str) -> str:
        """A quoted identifier."""

    @abstractmethod
    def create(self) -> None:
        """Creates the empty window."""

    @abstractmethod
    def fill(self, number: int) -> None:
        """Fills the table of a partition, which is not yet in the window."""

    @abstractmethod
    def attach(self, number: int) -> None:
        """Makes it a partition of the window."""

    @abstractmethod
    def detach(self, number: int) -> None:
        """Makes a partition of the window a table of its own."""

    def limit(self, session: Session) -> None:
        """Limits the time of statements in the session that drops what is left."""

    def named(self, name: str) -> str:
        """A quoted table in the workload's schema."""
        return f"{self.quoted(self._place)}.{self.quoted(name)}"

    def run_sql(self, text: str) -> list[tuple[Any, ...]]:
        """Runs a statement; returns its rows."""
        return self._session.execute(text).rows

    def copied(self, number: int) -> str:
        """A query for the rows of a partition."""
        return f"SELECT t.*, {number} FROM {self.named(self.source)} t LIMIT {self._rows}"  # noqa: S608

    def _create(self) -> int:
        """Creates the empty window; returns the rows of a partition."""
        count = self.run_sql(f"SELECT {self.count} FROM {self.named(self.source)}")[0][0]  # noqa: S608
        self._rows = max(1, int(count) // SHARE)
        self.create()
        return self._rows

    def _counted(self) -> tuple[int, int, int]:
        """The rows of the window, its first and its last partition."""
        column = self.quoted(COLUMN)
        text = f"SELECT {self.count}, min({column}), max({column}) FROM {self.named(WINDOW)}"  # noqa: S608
        count, first, last = self.run_sql(text)[0]
        return int(count), int(first or 0), int(last or 0)

    def _clear(self, session: Session) -> None:
        for name in (WINDOW, *map(slice_name, range(1, KEPT + SLIDES + 1))):
            session.execute(f"DROP TABLE IF EXISTS {self.named(name)}")

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
