"""Bytes read, bytes spilled and memory of a query, from DuckDB's profiler.

Only the totals in use are requested. Even so a short query takes a few percent longer
(benches/harness.txt), so the profiler is off during timed queries, unless the user enables it.
"""

from __future__ import annotations

import contextlib
import json
from typing import Any

import duckdb

from dyno.contracts.meter import Reading
from dyno.targets.duckdb.connection import DuckdbConnection
from dyno.targets.duckdb.errors import statement_error

_TOTALS = (
    "SET tracked_metrics = ['io.total_bytes_read', 'io.total_bytes_written', "
    "'system.peak_buffer_memory']",
)
_SOURCES = {
    "bytes_read": "DuckDB's profile: total_bytes_read of the query, excluding its cache",
    "temp_bytes": "DuckDB's profile: total_bytes_written of the query",
    "peak_memory_bytes": "DuckDB's profile: peak_buffer_memory of the whole database, including "
    "cached "
    "data",
}


class DuckdbMeter:
    """Implements ``SlowingMeter``. The profiler is per session, and has no output."""

    def __init__(self, session: DuckdbConnection) -> None:
        self._session = session
        self._reason: str | None = None
        self._on = False

    def before(self) -> None:
        """Enables the profiler."""
        if self._on or self._reason is not None:
            return
        if not hasattr(self._session.raw, "get_profiling_information"):
            self._reason = "this DuckDB version does not expose its profile"
            return
        try:
            for statement in ("SET enable_profiling = 'no_output'", *_TOTALS):
                self._session.raw.execute(statement)
            self._on = True
        except duckdb.Error:
            with contextlib.suppress(duckdb.Error):
                self._session.raw.execute("PRAGMA disable_profiling")
            self._reason = "this DuckDB version cannot profile totals alone (needs version 2)"

    def stop(self) -> None:
        """Disables the profiler."""
        if not self._on:
            return
        try:
            self._session.raw.execute("PRAGMA disable_profiling")
        except duckdb.Error as error:
            raise statement_error(error) from error
        self._on = False

    def after(self) -> Reading:
        """Reads the totals of the last statement from the profiler."""
        if self._reason is not None:
            return Reading.missing(self._reason)
        try:
            profile = json.loads(self._session.raw.get_profiling_information(format="json"))
        except duckdb.Error as error:
            raise statement_error(error) from error
        except ValueError:
            return Reading.missing("DuckDB returned an unreadable profile")
        values = {
            "bytes_read": _whole(profile, "io", "total_bytes_read"),
            "temp_bytes": _whole(profile, "io", "total_bytes_written"),
            "peak_memory_bytes": _whole(profile, "system", "peak_buffer_memory"),
        }
        lacking = "it is not in DuckDB's profile"
        return Reading(
            **values,
            sources={
                name: lacking if value is None else _SOURCES[name] for name, value in values.items()
            },
        )


def _whole(profile: Any, group: str, name: str) -> int | None:
    found = profile.get(group) if isinstance(profile, dict) else None
    value = found.get(name) if isinstance(found, dict) else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None
