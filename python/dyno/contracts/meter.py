"""Metrics of a query inside the engine, if reading them does not slow it down.

A target with such metrics has a method ``meter``. Others leave them empty, with a reason.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol, runtime_checkable

from dyno.contracts.target import Connection, Target
from dyno.errors import DynoError, Interrupted

METRICS = ("bytes_read", "temp_bytes", "peak_memory_bytes")

Metering = Literal["never", "untimed", "always"]
"""Queries to meter on an engine that slows down while it counts: none, the untimed ones, or all.
Other engines are always metered unless this is ``never``."""

NOT_ASKED = "not requested (--no-query-figures)"
_SLOWER = "counting would slow down the timed query (--query-figures forces it)"
_BEFORE = "; from the untimed warm-up run, since counting would slow down the timed query"


@dataclass(frozen=True)
class Reading:
    """Metrics of one query. An unknown one is None, never 0.

    Attributes:
        bytes_read: Bytes that the engine read from the operating system.
        temp_bytes: Bytes written to temporary files.
        peak_memory_bytes: Peak memory.
        sources: The source of each metric, or the reason why it is missing.
    """

    bytes_read: int | None = None
    temp_bytes: int | None = None
    peak_memory_bytes: int | None = None
    sources: dict[str, str] = field(default_factory=dict[str, str])

    @staticmethod
    @functools.lru_cache(maxsize=64)
    def missing(reason: str) -> Reading:
        """No metrics."""
        return Reading(sources=dict.fromkeys(METRICS, reason))

    def of_warming_run(self) -> Reading:
        """These metrics for the timed run, without those that differ between the two runs.

        The warm-up run may read from storage what the timed run finds in memory.
        """
        sources = {name: text + _BEFORE for name, text in self.sources.items()}
        return replace(self, bytes_read=None, sources={**sources, "bytes_read": _SLOWER})

    @functools.cached_property
    def columns(self) -> Mapping[str, Any]:
        """Columns of the table of queries; ``meter`` has the sources as JSON text."""
        values = {name: getattr(self, name) for name in METRICS}
        return {**values, "meter": json.dumps(self.sources, sort_keys=True)}


_NOT_COUNTED = Reading.missing(_SLOWER)


class Meter(Protocol):
    """Reads the counters of one session before and after each query."""

    def before(self) -> None:
        """Called right before a query is sent.

        Raises:
            DynoError: If the engine does not respond.
        """
        ...

    def after(self) -> Reading:
        """Called after the query has completed.

        Raises:
            DynoError: If the engine does not respond.
        """
        ...


@runtime_checkable
class SlowingMeter(Meter, Protocol):
    """A meter that slows down queries while it counts."""

    def stop(self) -> None:
        """Stops counting until the next :meth:`before`.

        Raises:
            DynoError: If the engine does not respond.
        """
        ...


@runtime_checkable
class Metered(Protocol):
    """A target with metrics of queries."""

    def meter(self, connection: Connection) -> Meter:
        """A meter for the queries of ``connection``, a session of this target."""
        ...


class QueryMeter:
    """A meter whose failures become reasons for missing metrics."""

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
                # Once, since a protocol check is slow.
                if metering == "untimed" and isinstance(meter, SlowingMeter):
                    self._slowing = meter

    def before(self, *, timed: bool = True) -> None:
        """Call right before the query is sent, outside its measured time."""
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

    def after(
        self, query: str = "", *, timed: bool = True, failed: bool = False
    ) -> Mapping[str, Any]:
        """Columns for the table of queries; call after the query has ended."""
        return self._after(query, timed=timed, failed=failed).columns

    def _after(self, query: str, *, timed: bool, failed: bool) -> Reading:
        if failed:
            return Reading.missing("the query did not finish")
        if self._meter is None or self._reason:
            return Reading.missing(self._reason)
        if not self._counts:
            return self._untimed.get(query, _NOT_COUNTED)
        try:
            reading = self._meter.after()
        except Interrupted:
            raise
        except DynoError as error:
            return Reading.missing(f"cannot read the counters: {error}")
        if not timed:
            self._untimed[query] = reading.of_warming_run()
        return reading
