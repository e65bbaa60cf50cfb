"""What a query read, spilled and held in memory, from DuckDB's own profile of it.

Only the totals that are used are asked for. Even so a short query takes a few percent longer
(benches/harness.txt), so the profile is off while a query is timed, unless the user asks for it.
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
    """See ``SlowingMeter``. The profile is of the session, and has no output."""

    def __init__(self, session: DuckdbConnection) -> None:
        self._session = session
        self._reason: str | None = None
        self._on = False

    def before(self) -> None:
        """Switches the profile on, unless it is."""
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
        """Switches the profile off, if it is on."""
        if not self._on:
            return
        try:
            self._session.raw.execute("PRAGMA disable_profiling")
        except duckdb.Error as error:
            raise statement_error(error) from error
        self._on = False

    def after(self) -> Reading:
        """Takes the totals from the profile of the last statement."""
        if self._reason is not None:
            return Reading.missing(self._reason)
        try:
            profile = json.loads(self._session.raw.get_profiling_information(format="json"))
        except duckdb.Error as error:
            raise statement_error(error) from error
        except ValueError:
            return Reading.missing("DuckDB returned an unreadable profile")
        figures = {
            "bytes_read": _whole(profile, "io", "total_bytes_read"),
            "temp_bytes": _whole(profile, "io", "total_bytes_written"),
            "peak_memory_bytes": _whole(profile, "system", "peak_buffer_memory"),
        }
        lacking = "it is not in DuckDB's profile"
        return Reading(
            **figures,
            sources={
                name: lacking if value is None else _SOURCES[name]
                for name, value in figures.items()
            },
        )


def _whole(profile: Any, group: str, name: str) -> int | None:
    found = profile.get(group) if isinstance(profile, dict) else None
    value = found.get(name) if isinstance(found, dict) else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None
