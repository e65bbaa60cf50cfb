"""Bytes read, bytes spilled and memory of a query, from the server's views before and after it.

* Pages of tempdb are counted by session, when a statement has ended: sort runs, work files of
  hashes and work tables of spools, in memory or not.
* Memory is the used part of the grant that the plan cache keeps of each plan's last execution.
* Bytes read are those of the server's data files, so they belong to the query only while no other
  session works. Statements that run at the ends are seen, and the server counts the batches in
  between. The plan cache does not show all of them: backups, checks, statements with RECOMPILE and,
  with ``optimize for ad hoc workloads``, first executions.

Dyno's probes read no data files. They send nothing while the counters are read, and their
statements are known (``targets/observers.py``).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from dyno.contracts.meter import Reading
from dyno.targets.observers import Observers
from dyno.targets.sqlserver.connection import Session, literal
from dyno.targets.sqlserver.inside.files import VIEW as FILES_VIEW
from dyno.targets.sqlserver.inside.performance import PAGE
from dyno.targets.sqlserver.inside.performance import VIEW as BATCHES_VIEW
from dyno.targets.sqlserver.inside.views import OWN, Views
from dyno.targets.sqlserver.inside.waits import TEMPDB

NOW_VIEW = "the server's clock"
NOW = f"{OWN}SELECT CONVERT(varchar(23), GETDATE(), 126)"
READ = f"""{OWN}SELECT SUM(v.num_of_bytes_read) FROM {FILES_VIEW}(NULL, NULL) AS v
WHERE v.database_id <> {TEMPDB}"""  # noqa: S608  (fixed text)
SPACE_VIEW = "tempdb.sys.dm_db_session_space_usage"
SPACE = (
    f"{OWN}SELECT internal_objects_alloc_page_count FROM {SPACE_VIEW} "  # noqa: S608
    "WHERE session_id = @@SPID"
)
PLANS_VIEW = "sys.dm_exec_query_stats"
PLANS = f"""{OWN}SELECT q.sql_handle, MAX(q.last_used_grant_kb)
FROM {PLANS_VIEW} AS q CROSS APPLY sys.dm_exec_sql_text(q.sql_handle) AS t
WHERE q.last_execution_time >= {{since}} AND t.text NOT LIKE N'%dyno observer%'
GROUP BY q.sql_handle"""  # noqa: S608  (a time of the server)
RUNNING_VIEW = "sys.dm_exec_requests"
RUNNING = f"""{OWN}SELECT COUNT(*) FROM {RUNNING_VIEW} AS r
JOIN sys.dm_exec_sessions AS s ON s.session_id = r.session_id
OUTER APPLY sys.dm_exec_sql_text(r.sql_handle) AS t
WHERE s.is_user_process = 1 AND r.session_id <> @@SPID
AND COALESCE(t.text, N'') NOT LIKE N'%dyno observer%'"""  # noqa: S608
BATCHES = f"""{OWN}SELECT SUM(c.cntr_value) FROM {BATCHES_VIEW} AS c
WHERE LOWER(c.counter_name) = N'batch requests/sec'"""  # noqa: S608  (fixed text)

_READ = "dm_io_virtual_file_stats, before and after: reads of data and log files"
_SPACE = "dm_db_session_space_usage: pages of tempdb for internal objects of this session"
_GRANT = "dm_exec_query_stats: last_used_grant_kb of the statement; excludes the buffer pool"
_OTHERS = "other statements ran, and the counters are server-wide"
_UNKNOWN = "it is unknown whether other statements ran: {reason}"
_NOT_KEPT = "the statement's plan is not in the plan cache"


class _State(NamedTuple):
    """Counters; an unknown one is None.

    Attributes:
        others: Batches of others, but for a constant.
    """

    now: str | None
    read: int | None
    space: int | None
    running: int | None
    others: int | None


class SqlServerMeter:
    """Implements the protocol: a reading before each query and after it."""

    def __init__(self, session: Session, observers: Observers[Session]) -> None:
        """Reads nothing yet."""
        self._session, self._observers = session, observers
        self._views = Views()
        self._before: _State | None = None

    def before(self) -> None:
        """Reads the counters."""
        with self._observers.quiet() as observed:
            others = self._others(observed)
            self._before = self._read(others)

    def after(self) -> Reading:
        """Reads the counters again and returns the difference."""
        before = self._before
        if before is None:
            return Reading.missing("no reading before the query")
        with self._observers.quiet() as observed:
            now = self._read(None)
            now = now._replace(others=self._others(observed))
        plans = self._plans(before.now)
        read, read_source = self._bytes_read(before, now, plans)
        space, space_source = _since(before.space, now.space), _SPACE
        if space is None:
            space_source = self._reason(SPACE_VIEW)
        peak, peak_source = self._grant(plans)
        return Reading(
            bytes_read=read,
            temp_bytes=None if space is None else space * PAGE,
            peak_memory_bytes=peak,
            sources={
                "bytes_read": read_source,
                "temp_bytes": space_source,
                "peak_memory_bytes": peak_source,
            },
        )

    def _others(self, observed: int) -> int | None:
        """Read first before a query and last after it, so that no batch is missed."""
        sent = self._one(BATCHES_VIEW, BATCHES)
        return None if sent is None else int(sent) - self._session.statements - observed

    def _read(self, others: int | None) -> _State:
        now = self._one(NOW_VIEW, NOW)
        read, space = self._one(FILES_VIEW, READ), self._one(SPACE_VIEW, SPACE)
        running = self._one(RUNNING_VIEW, RUNNING)
        return _State(
            None if now is None else str(now),
            _number(read),
            _number(space),
            _number(running),
            others,
        )

    def _one(self, view: str, sql: str) -> Any:
        rows = self._views.rows(self._session, view, sql)
        return rows[0][0] if rows else None

    def _plans(self, since: str | None) -> list[tuple[bytes, int]] | None:
        """Batches that began since a time of the server, with their used work memory in KB."""
        if since is None:
            return None
        sql = PLANS.format(since=f"CONVERT(datetime, {literal(since)}, 126)")
        rows = self._views.rows(self._session, PLANS_VIEW, sql)
        return None if rows is None else [(bytes(row[0]), int(row[1] or 0)) for row in rows]

    def _bytes_read(
        self, before: _State, now: _State, plans: list[tuple[bytes, int]] | None
    ) -> tuple[int | None, str]:
        read = _since(before.read, now.read)
        if read is None:
            return None, self._reason(FILES_VIEW)
        if before.running is None or now.running is None:
            return None, _UNKNOWN.format(reason=self._reason(RUNNING_VIEW))
        sent = _since(before.others, now.others)
        if sent is None:
            return None, _UNKNOWN.format(reason=self._reason(BATCHES_VIEW))
        seen = max(0, len(plans or ()) - 1) + before.running + now.running
        return (None, _OTHERS) if sent or seen else (read, _READ)

    def _grant(self, plans: list[tuple[bytes, int]] | None) -> tuple[int | None, str]:
        if plans is None:
            return None, self._reason(PLANS_VIEW)
        if len(plans) > 1:
            return None, _OTHERS
        return (plans[0][1] * 1024, _GRANT) if plans else (None, _NOT_KEPT)

    def _reason(self, view: str) -> str:
        return self._views.missing.get(view, f"{view} has no row for it")


def _number(value: Any) -> int | None:
    return None if value is None else int(value)


def _since(before: int | None, now: int | None) -> int | None:
    return None if before is None or now is None else max(0, now - before)
