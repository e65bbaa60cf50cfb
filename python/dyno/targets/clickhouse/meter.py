"""Bytes read, bytes spilled and memory of a query, from ClickHouse's query log.

The log is in memory (``engine.xml``) and is read between queries, outside their measured time. Its
metrics are per statement, so concurrent work does not affect them.
"""

from __future__ import annotations

from dyno.contracts.meter import Reading
from dyno.errors import DynoError
from dyno.targets.clickhouse.connection import ClickhouseConnection
from dyno.targets.clickhouse.ddl import literal

_READ = "ReadBufferFromFileDescriptorReadBytes"
_SPILLED = "ExternalProcessingCompressedBytesTotal"
_SOURCES = {
    "bytes_read": f"ClickHouse's query_log: {_READ} of the query, from files, including spilled "
    "data",
    "temp_bytes": f"ClickHouse's query_log: {_SPILLED} of the query, compressed",
    "peak_memory_bytes": "ClickHouse's query_log: memory_usage, the peak of the query",
}


class ClickhouseMeter:
    """Implements the protocol. The statement is the session's first one after :meth:`before`."""

    def __init__(self, session: ClickhouseConnection) -> None:
        self._session = session
        self._reason: str | None = None
        self._known = False
        self._since = 0

    def before(self) -> None:
        """Reads the engine's clock, which identifies the statement."""
        if not self._known:
            self._known, self._reason = True, self._lacking()
        self._since = self._session.execute("SELECT toUnixTimestamp64Micro(now64(6))").rows[0][0]

    def after(self) -> Reading:
        """Reads the metrics of the statement from the log."""
        if self._reason is not None:
            return Reading.missing(self._reason)
        self._session.execute("SYSTEM FLUSH LOGS query_log")
        rows = self._session.execute(
            f"SELECT ProfileEvents['{_READ}'], ProfileEvents['{_SPILLED}'], memory_usage "  # noqa: S608
            "FROM system.query_log WHERE type = 'QueryFinish' AND is_initial_query "
            f"AND log_comment = {literal(self._session.comment)} "
            f"AND toUnixTimestamp64Micro(query_start_time_microseconds) > {self._since} "
            "ORDER BY query_start_time_microseconds LIMIT 1"
        ).rows
        if not rows:
            return Reading.missing("the query is not in ClickHouse's query_log")
        read, spilled, peak = map(int, rows[0])
        return Reading(read, spilled, peak, sources=dict(_SOURCES))

    def _lacking(self) -> str | None:
        """Why there are no metrics: an unknown counter would read as 0."""
        try:
            self._session.execute("SYSTEM FLUSH LOGS query_log")
            self._session.execute("SELECT 1 FROM system.query_log LIMIT 0")
        except DynoError:
            return "this ClickHouse has no query_log"
        known = self._session.execute(
            "SELECT count() FROM system.events "  # noqa: S608  (fixed names)
            f"WHERE event IN ('{_READ}', '{_SPILLED}') SETTINGS system_events_show_zero_values = 1"
        ).rows[0][0]
        return None if known == 2 else "this ClickHouse version uses another counter name"
