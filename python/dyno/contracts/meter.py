"""What a query did inside the engine, as far as the engine tells without being disturbed.

A target that tells has a method ``meter``; every other one leaves the figures empty with a reason.
"""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol, runtime_checkable

from dyno.contracts.target import Connection, Target
from dyno.errors import DynoError, Interrupted

FIGURES = ("bytes_read", "temp_bytes", "peak_memory_bytes")

Metering = Literal["never", "untimed", "always"]
"""Which queries an engine that slows down while it counts is metered for: none, those that are not
timed, or all. Other engines are metered unless it is ``never``."""

NOT_ASKED = "not requested (--no-query-figures)"
_SLOWER = "counting would slow down the timed query (--query-figures forces it)"
_BEFORE = "; from the untimed warm-up run, since counting would slow down the timed query"


@dataclass(frozen=True)
class Reading:
    """What one query did. A figure that is not known is None, never 0.

    Attributes:
        bytes_read: Bytes that the engine asked the operating system for.
        temp_bytes: Bytes that it wrote to temporary files, as intermediate results did not fit.
        peak_memory_bytes: Most memory that it held.
        sources: For each figure where it comes from, or the reason why it is missing.
    """

    bytes_read: int | None = None
    temp_bytes: int | None = None
    peak_memory_bytes: int | None = None
    sources: dict[str, str] = field(default_factory=dict[str, str])

    @staticmethod
    @functools.lru_cache(maxsize=64)
    def missing(reason: str) -> Reading:
        """No figure at all."""
        return Reading(sources=dict.fromkeys(FIGURES, reason))

    def of_warming_run(self) -> Reading:
        """The same for the timed run of the query, without what differs between the two.

        The warming run may have read from storage what the timed one finds in memory.
        """
        sources = {name: text + _BEFORE for name, text in self.sources.items()}
        return replace(self, bytes_read=None, sources={**sources, "bytes_read": _SLOWER})

    def columns(self) -> dict[str, Any]:
        """As columns of the table of queries; ``meter`` holds the sources as JSON text."""
        figures = {name: getattr(self, name) for name in FIGURES}
        return {**figures, "meter": self._sources_text}

    @functools.cached_property
    def _sources_text(self) -> str:
        return json.dumps(self.sources, sort_keys=True)


class Meter(Protocol):
    """Reads the counters of one session round each of its queries."""

    def before(self) -> None:
        """Called just before a query is sent.

        Raises:
            DynoError: If the engine cannot be asked.
        """
        ...

    def after(self) -> Reading:
        """Called once the query has ended well.

        Raises:
            DynoError: If the engine cannot be asked.
        """
        ...


@runtime_checkable
class SlowingMeter(Meter, Protocol):
    """A meter whose engine takes longer for a query while it counts."""

    def stop(self) -> None:
        """Makes the engine stop counting, until :meth:`before` is called again.

        Raises:
            DynoError: If the engine cannot be asked.
        """
        ...


@runtime_checkable
class Metered(Protocol):
    """A target that tells what a query did."""

    def meter(self, connection: Connection) -> Meter:
        """A meter for the queries of ``connection``, one of its sessions."""
        ...


class QueryMeter:
    """A meter that never spoils a run: what fails in it is a reason for a missing metric."""

    def __init__(
        self, target: Target, connection: Connection, metering: Metering = "always"
    ) -> None:
        """A meter for the queries of ``connection``."""
        self._meter: Meter | None = None
        self._slowing: SlowingMeter | None = None
        self._reason = NOT_ASKED
        self._counts = False
        self._untimed: dict[str, Reading] = {}
        if metering != "never":
            self._reason = f"Dyno does not read it from {target.name}"
            if isinstance(target, Metered):
                self._meter = meter = target.meter(connection)
                # Once, since a protocol takes time to look at.
                if metering == "untimed" and isinstance(meter, SlowingMeter):
                    self._slowing = meter

    def before(self, *, timed: bool = True) -> None:
        """Call just before the query is sent, outside its measured time."""
        meter = self._meter
        if meter is None:
            return
        self._reason = ""
        try:
            if timed and self._slowing is not None:
                self._counts = False
                self._slowing.stop()
            else:
                self._counts = True
                meter.before()
        except Interrupted:
            raise
        except DynoError as error:
            self._reason = f"cannot read the counters: {error}"

    def after(self, query: str = "", *, timed: bool = True, failed: bool = False) -> dict[str, Any]:
        """Columns for the table of queries; call when the query has ended."""
        return self._after(query, timed=timed, failed=failed).columns()

    def _after(self, query: str, *, timed: bool, failed: bool) -> Reading:
        if failed:
            return Reading.missing("the query did not finish")
        if self._meter is None or self._reason:
            return Reading.missing(self._reason)
        if not self._counts:
            return self._untimed.get(query) or Reading.missing(_SLOWER)
        try:
            reading = self._meter.after()
        except Interrupted:
            raise
        except DynoError as error:
            return Reading.missing(f"cannot read the counters: {error}")
        if not timed:
            self._untimed[query] = reading.of_warming_run()
        return reading
