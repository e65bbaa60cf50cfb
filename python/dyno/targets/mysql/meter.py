"""Bytes read, bytes spilled and memory of a query, from server counters before and after it.

Most counters are server-wide, so they belong to the query only while no other session works. This
is verified: every statement increments one sequence (``Queries``), and ``Threads_running`` shows
statements that started earlier. The statements of Dyno's probes are known
(``targets/observers.py``) and change no other counter.
"""

from __future__ import annotations

from dyno.contracts.meter import Reading
from dyno.errors import DynoError
from dyno.targets.mysql.connection import MysqlConnection
from dyno.targets.observers import Observers

_SPILLS = ("created_tmp_disk_tables", "created_tmp_files", "sort_merge_passes")
"""Counters that each increase for one kind of spill."""

_NAMES = ("queries", "threads_running", "innodb_data_read", "max_memory_used", *_SPILLS)
_OBSERVED = "observed"
"""The number of statements of Dyno's probes."""
_LISTED = ", ".join(f"'{name}'" for name in _NAMES)

_STATUS = f"SHOW SESSION STATUS WHERE Variable_name IN ({_LISTED})"

_RUNNING = "SHOW GLOBAL STATUS LIKE 'Threads_running'"
"""MariaDB also has a number per session. (A SELECT of both would take as much memory as many
queries.)
"""

# Files of sorts, duplicates and hash joins. InnoDB's files for on-disk tables are excluded,
# because the server writes them asynchronously.
_FILES = "'wait/io/file/sql/io_cache', 'wait/io/file/sql/hash_join'"
_COUNTED = (
    "SELECT count(*) FROM performance_schema.setup_instruments WHERE enabled = 'YES' "  # noqa: S608
    f"AND name IN ({_FILES})"
)
_SCHEMA = (
    "SELECT variable_name, variable_value FROM performance_schema.session_status "  # noqa: S608
    f"WHERE variable_name IN ({_LISTED}) "
    "UNION ALL SELECT 'written', (SELECT sum(sum_number_of_bytes_write) "
    "FROM performance_schema.file_summary_by_event_name WHERE event_name IN "
    f"({_FILES})) "
    "UNION ALL SELECT 'mapped', (SELECT count_alloc "
    "FROM performance_schema.memory_summary_global_by_event_name "
    "WHERE event_name = 'memory/temptable/physical_disk') "
    "UNION ALL SELECT 'peak', (SELECT max_total_memory "
    "FROM performance_schema.events_statements_history "
    "WHERE thread_id = ps_current_thread_id() AND end_event_id IS NOT NULL "
    "ORDER BY event_id DESC LIMIT 1)"
)
"""All in one statement; the last row of the history is the previous statement."""

_READ = "Innodb_data_read, before and after: reads of InnoDB files, including background work"
_NO_SPILL = "no temporary file, on-disk table or merge pass counted"
_NO_BYTES = "it spilled, but MariaDB does not count the bytes"
_WRITTEN = "performance_schema: bytes written to files of sorts, deduplication and hash joins"
_ON_DISK = "it created on-disk temporary tables, which InnoDB writes later"
_PEAK = "performance_schema: max_total_memory of the statement, including its session"
_NO_PEAK = "performance_schema on this server does not track statement memory"
_ROSE = "Max_memory_used of the session, which this query raised; excludes the buffer pool"
_OTHERS = "other sessions were active, and the counters are server-wide"
_NO_SCHEMA = (
    "needs MySQL 8.0.31 or newer with performance_schema, and GRANT SELECT ON "
    "performance_schema.* for this user"
)


def uncounted(session: MysqlConnection) -> int:
    """The statements of a session that it did not count: those of its login.

    Raises:
        DynoError: If the server does not respond.
    """
    shown = session.execute("SHOW SESSION STATUS LIKE 'Questions'").rows
    return int(shown[0][1]) - session.statements


class MysqlMeter:
    """Implements the protocol: a reading before the first query, and after each."""

    def __init__(self, session: MysqlConnection, observers: Observers[MysqlConnection]) -> None:
        self._session, self._observers = session, observers
        self._statement = ""
        self._running = 1
        # Statements between two readings: the query, and those of a reading.
        self._own = 3 if session.version.is_mariadb else 2
        self._before: dict[str, int] = {}
        self._fresh = False

    def before(self) -> None:
        """Reads the counters, unless the reading after the previous query is available."""
        if not self._statement:
            self._prepare()
        if not self._fresh:
            self._before = self._read()
        # There is no reading after a failed query; the next query must not get its counts.
        self._fresh = False

    def after(self) -> Reading:
        """Reads the counters again and returns the difference."""
        before, now = self._before, self._read()
        self._before, self._fresh = now, True
        alone = (
            now["queries"] - before["queries"] == self._own + now[_OBSERVED] - before[_OBSERVED]
            and before["threads_running"] == now["threads_running"] == self._running
        )
        read = max(0, now["innodb_data_read"] - before["innodb_data_read"]) if alone else None
        spilled, spill_source = self._spilled(before, now, alone=alone)
        peak, peak_source = self._peak(before, now)
        return Reading(
            bytes_read=read,
            temp_bytes=spilled,
            peak_memory_bytes=peak,
            sources={
                "bytes_read": _READ if alone else _OTHERS,
                "temp_bytes": spill_source,
                "peak_memory_bytes": peak_source,
            },
        )

    def _prepare(self) -> None:
        """Determines which counters this server shows to this user."""
        on = self._session.execute("SELECT @@GLOBAL.event_scheduler = 'ON'").rows[0][0]
        self._running = 2 if on else 1  # MySQL and MariaDB count that thread as running
        self._statement = _STATUS
        if self._session.version.is_mariadb:
            self._read()  # includes the memory of a reading in the session's peak
            return
        try:
            counted = self._session.execute(_COUNTED).rows[0][0] == 2
            self._session.execute(_SCHEMA)
        except DynoError as error:
            if not error.is_refusal:
                raise
            counted = False
        if counted:
            self._statement = _SCHEMA

    def _read(self) -> dict[str, int]:
        with self._observers.quiet() as observed:
            rows = self._session.execute(self._statement).rows
            if self._session.version.is_mariadb:
                rows = [*rows, *self._session.execute(_RUNNING).rows]
        found = {str(name).lower(): int(value) for name, value in rows if value is not None}
        return {**found, _OBSERVED: observed}

    def _spilled(
        self, before: dict[str, int], now: dict[str, int], *, alone: bool
    ) -> tuple[int | None, str]:
        if not alone:
            return None, _OTHERS
        moved = {name for name in (*_SPILLS, "mapped") if now.get(name, 0) != before.get(name, 0)}
        if self._session.version.is_mariadb:
            return (None, _NO_BYTES) if moved else (0, _NO_SPILL)
        if "written" not in now or "written" not in before:
            # The only evidence of a hash join that spilled.
            return None, _NO_SCHEMA
        if moved & {"created_tmp_disk_tables", "mapped"}:
            return None, _ON_DISK
        return max(0, now["written"] - before["written"]), _WRITTEN

    def _peak(self, before: dict[str, int], now: dict[str, int]) -> tuple[int | None, str]:
        if self._session.version.is_mariadb:
            most, seen = now.get("max_memory_used", 0), before.get("max_memory_used", 0)
            if most > seen:
                return most, _ROSE
            return None, f"at most {seen:,} bytes, the earlier peak of its session"
        if self._statement != _SCHEMA:
            return None, _NO_SCHEMA
        peak = now.get("peak", 0)
        return (peak, _PEAK) if peak else (None, _NO_PEAK)
