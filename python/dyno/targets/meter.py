"""What a query did inside the engine, as far as the engine tells without being disturbed.

A target that tells has a method ``meter``; every other one leaves the figures empty with a reason.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from dyno.errors import DynoError, Interrupted
from dyno.targets.base import Connection, Target

FIGURES = ("bytes_read", "temp_bytes", "peak_memory_bytes")

NOT_ASKED = "not asked for (--no-query-figures)"


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

    @classmethod
    def missing(cls, reason: str) -> Reading:
        """No figure at all."""
        return cls(sources=dict.fromkeys(FIGURES, reason))

    def columns(self) -> dict[str, Any]:
        """As columns of the table of queries; ``meter`` holds the sources as JSON text."""
        figures = {name: getattr(self, name) for name in FIGURES}
        return {**figures, "meter": json.dumps(self.sources, sort_keys=True)}


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
class Metered(Protocol):
    """A target that tells what a query did."""

    def meter(self, connection: Connection) -> Meter:
        """A meter for the queries of ``connection``, one of its sessions."""
        ...


class QueryMeter:
    """A meter that never spoils a run: what fails in it is a reason for a missing figure."""

    def __init__(self, target: Target, connection: Connection, *, asked: bool = True) -> None:
        """A meter for the queries of ``connection``; empty unless ``asked``.

        An engine that counts takes a little longer.
        """
        self._meter = None
        if not asked:
            self._reason = NOT_ASKED
            return
        self._reason = f"Dyno does not read it from {target.name}"
        if isinstance(target, Metered):
            self._meter = target.meter(connection)

    def before(self) -> None:
        """Call just before the query is sent, outside its measured time."""
        if self._meter is None:
            return
        self._reason = ""
        try:
            self._meter.before()
        except Interrupted:
            raise
        except DynoError as error:
            self._reason = f"the counters could not be read: {error}"

    def after(self, *, failed: bool = False) -> dict[str, Any]:
        """Columns for the table of queries; call when the query has ended."""
        if failed:
            return Reading.missing("the query did not end").columns()
        if self._meter is None or self._reason:
            return Reading.missing(self._reason).columns()
        try:
            return self._meter.after().columns()
        except Interrupted:
            raise
        except DynoError as error:
            return Reading.missing(f"the counters could not be read: {error}").columns()
