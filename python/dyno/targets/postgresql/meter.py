"""Bytes read and spilled by a query, from cumulative server counters before and after it.

The counters are server-wide, so they belong to the query only while no other session works. This is
verified: a reading that may include other work is left out. Dyno's probes may work meanwhile: they
write no temporary files, and read only catalogs, which are cached.
"""

from __future__ import annotations

from typing import Any

import psycopg

from dyno.contracts.meter import Reading
from dyno.targets.postgresql.connection import PostgresConnection
from dyno.targets.postgresql.inside.observer import NAME

_OLDEST = 150000
_NO_MEMORY = "PostgreSQL does not report the memory of a query"
_TEMP_SOURCE = "pg_stat_database.temp_bytes, before and after"

_FLUSH = "SELECT pg_stat_force_next_flush()"
"""Makes a session report its counters at once; parallel workers report when they exit."""

# pg_stat_io counts by backend type, so it excludes autovacuum.
_READ_BYTES = (
    (
        180000,
        "(SELECT sum(read_bytes) FROM pg_stat_io WHERE backend_type IN "
        "('client backend', 'background worker'))",
        "pg_stat_io.read_bytes of sessions and their workers, before and after",
    ),
    (
        160000,
        "(SELECT sum(reads * op_bytes) FROM pg_stat_io WHERE backend_type IN "
        "('client backend', 'background worker'))",
        "pg_stat_io.reads of sessions and their workers, before and after",
    ),
    (
        _OLDEST,
        "(d.blks_read * current_setting('block_size')::bigint)",
        "pg_stat_database.blks_read, before and after",
    ),
)


_READING = (
    "SELECT now()::text, READ_BYTES::bigint, d.temp_bytes, "  # noqa: S608  (a fixed name)
    "(SELECT sum(sessions) FROM pg_stat_database)::bigint, "
    "o.others, o.visible, o.worked, o.probes "
    "FROM pg_stat_database d, (SELECT "
    "coalesce(array_agg(pid ORDER BY pid) FILTER (WHERE NOT probe), '{}') others, "
    "coalesce(bool_and(state IS NOT NULL) FILTER (WHERE NOT probe), true) visible, "
    "coalesce(bool_or(state <> 'idle' OR state_change >= %s::timestamptz) "
    "FILTER (WHERE NOT probe), false) worked, "
    "coalesce(array_agg(pid) FILTER (WHERE probe), '{}') probes "
    f"FROM (SELECT *, application_name = '{NAME}' probe FROM pg_stat_activity) a "
    "WHERE backend_type = 'client backend' "
    "AND pid <> pg_backend_pid()) o WHERE d.datname = current_database()"
)


class PostgresMeter:
    """Implements the protocol: a flush and a reading before the first query, and after each."""

    def __init__(self, session: PostgresConnection) -> None:
        self._session = session
        self._version = session.raw.info.server_version
        self._reading = _READING.replace("READ_BYTES", self._source()[0]).encode()
        self._before: _Counters | None = None
        self._fresh = False

    def before(self) -> None:
        """Reads the counters, unless the reading after the previous query is available."""
        if self._version >= _OLDEST and not self._fresh:
            self._before = self._read("infinity")
        # There is no reading after a failed query; the next query must not get its counts.
        self._fresh = False

    def after(self) -> Reading:
        """Reads the counters again and returns the difference."""
        if self._before is None:
            return Reading.missing("its counters are exact only from PostgreSQL 15 on")
        before = self._before
        now = self._before = self._read(before.at)
        self._fresh = True
        if not (before.visible and now.visible):
            return Reading.missing("this user may not see other sessions (role pg_monitor)")
        begun = now.sessions - before.sessions - len(now.probes - before.probes)
        if before.others != now.others or begun or now.worked:
            return Reading.missing("other sessions were active, and the counters are server-wide")
        return Reading(
            bytes_read=max(0, now.read - before.read),
            temp_bytes=max(0, now.temp - before.temp),
            sources={
                "bytes_read": self._source()[1],
                "temp_bytes": _TEMP_SOURCE,
                "peak_memory_bytes": _NO_MEMORY,
            },
        )

    def _source(self) -> tuple[str, str]:
        found = ((sql, words) for oldest, sql, words in _READ_BYTES if self._version >= oldest)
        return next(found, ("NULL", ""))

    def _read(self, since: str) -> _Counters:
        self._session.execute(_FLUSH)
        try:
            # Prepared once, because planning the large views is slow.
            row = self._session.raw.execute(self._reading, [since], prepare=True).fetchone()
        except psycopg.Error as error:
            raise self._session.error(error) from error
        assert row is not None  # noqa: S101  (an aggregate)
        return _Counters(row)


class _Counters:
    """One reading: its time, bytes read and spilled, and the activity of other sessions.

    Attributes:
        worked: Whether another session runs a statement, or ran one since the previous reading.
        visible: Whether this user may see that.
        probes: Sessions of Dyno's probes, by process.
    """

    def __init__(self, row: tuple[Any, ...]) -> None:
        self.at = str(row[0])
        self.read, self.temp, self.sessions = (int(value or 0) for value in row[1:4])
        self.others = list(row[4])
        self.visible, self.worked = bool(row[5]), bool(row[6])
        self.probes = frozenset(row[7])
