"""Statements from ClickHouse's query log.

The log is in memory and keeps the last 250 statements at least (``engine.xml``). It counts reads by
query, not by table. A restart empties it.

A plan is that of the statement's slowest execution. To plan a query, ClickHouse runs its scalar
subqueries; so a session that may only read does it, for two seconds at most.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from typing import Any, NamedTuple

from dyno.contracts.inspection import MOST_ROWS, Inspection, StatementUse
from dyno.errors import DynoError
from dyno.targets.clickhouse.connection import ClickhouseConnection
from dyno.targets.clickhouse.ddl import quoted
from dyno.targets.clickhouse.plans import explain
from dyno.targets.statementplans import Planned, planned

_LONGEST = 10_000
_KEPT = 500
"""Rows that the log keeps at least; each statement has two."""
_FLUSH = "SYSTEM FLUSH LOGS query_log"
_NOW = "SELECT toUnixTimestamp64Micro(now64(6))"
_SINCE = "is_initial_query AND toUnixTimestamp64Micro(event_time_microseconds) > {since}"
_QUERY = (
    "SELECT toString(normalized_query_hash), "  # noqa: S608  (fixed names)
    f"substringUTF8(any(normalizeQuery(query)), 1, {_LONGEST}), count(), "
    "sum(query_duration_ms), min(query_duration_ms), max(query_duration_ms), "
    "sum(greatest(result_rows, written_rows)), "
    "sum(ProfileEvents['ExternalProcessingCompressedBytesTotal']), any(query_kind), "
    "argMax(current_database, (query_duration_ms, query)), "
    "argMax(query, (query_duration_ms, query)) "
    f"FROM system.query_log WHERE type = 'QueryFinish' AND {_SINCE} "
    # Dyno's own readings and settings.
    "AND NOT has(databases, 'system') AND query_kind NOT IN ('Set', 'Use', 'System') "
    f"GROUP BY normalized_query_hash ORDER BY 4 DESC LIMIT {MOST_ROWS}"
)
_COUNT = f"SELECT count() FROM system.query_log WHERE NOT ({_SINCE})"  # noqa: S608
_TOTAL = "SELECT count() FROM system.query_log"

_PLANNING = "SET log_queries = 0, max_execution_time = 2, readonly = 2"

_NO_LOG = "this ClickHouse has no query_log, so its statements are not counted"
_LOST = "ClickHouse's query_log keeps only the last statements; earlier ones are not counted"


class ClickhouseInspector:
    """Implements the protocol, in one session."""

    def __init__(self, connect: Callable[[], ClickhouseConnection]) -> None:
        """Opens nothing.

        Args:
            connect: Opens a session.
        """
        self._connect = connect
        self._session: ClickhouseConnection | None = None
        self._since = 0

    def begin(self) -> None:
        """Reads the engine's clock (see the protocol)."""
        self._since = int(self._ask(_NOW)[0][0])

    def end(self) -> Inspection:
        """The statements that ended since then (see the protocol)."""
        since, self._since = self._since, int(self._ask(_NOW)[0][0])
        try:
            self._ask(_FLUSH)
            rows = self._ask(_QUERY.format(since=since))
            whole, earlier = (self._ask(sql.format(since=since))[0][0] for sql in (_TOTAL, _COUNT))
        except DynoError as error:
            if error.kind != "database":
                raise
            return Inspection(notes=(_NO_LOG,))
        found = [
            StatementUse(
                statement=str(name),
                text=str(text),
                calls=int(calls),
                total_ms=float(total),
                min_ms=float(shortest),
                max_ms=float(longest),
                rows=int(count),
                temp_bytes=int(spilled),
            )
            for name, text, calls, total, shortest, longest, count, spilled, *_ in rows
        ]
        queries = {
            str(row[0]): _Query(str(row[-2]), str(row[-1])) for row in rows if row[8] == "Select"
        }
        plans = _with_plans(self._connect, found, queries)
        # If no earlier statement is left, some of this period may have gone with them.
        lost = [_LOST] if whole >= _KEPT and not earlier else []
        return Inspection(plans.statements, notes=[*lost, *plans.notes])

    def close(self) -> None:
        """Closes the session."""
        session, self._session = self._session, None
        if session is not None:
            session.close()

    def _ask(self, sql: str) -> list[Any]:
        try:
            return self._opened().execute(sql).rows
        except DynoError as error:
            if error.kind != "connection_lost":
                raise
        self.close()  # the engine was restarted for a cold start
        return self._opened().execute(sql).rows

    def _opened(self) -> ClickhouseConnection:
        self._session = self._session or self._connect()
        return self._session


class _Query(NamedTuple):
    database: str
    text: str


def _with_plans(
    connect: Callable[[], ClickhouseConnection],
    uses: Sequence[StatementUse],
    queries: Mapping[str, _Query],
) -> Planned:
    sessions: dict[str, ClickhouseConnection] = {}

    with ExitStack() as stack:

        def explained(use: StatementUse) -> str:
            database, text = queries[use.statement]
            session = sessions.get(database)
            if session is None:
                session = stack.enter_context(closing(connect()))
                session.setup(_PLANNING)
                session.setup(f"USE {quoted(database)}")
                sessions[database] = session
            return explain(session, text, analyse=False).text

        return planned(uses, lambda use: use.statement in queries, explained)
