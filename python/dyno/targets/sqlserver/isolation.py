"""Transaction isolation in SQL Server.

``READ COMMITTED`` has two forms under one name. With the database's option
READ_COMMITTED_SNAPSHOT, a statement reads the rows that were committed when it began. Without it, a
statement waits for the locks of writers.
"""

from __future__ import annotations

from dyno.contracts.isolation import LEVELS, Isolation, sql_name
from dyno.contracts.target import Connection

SNAPSHOT = "snapshot"
"""A transaction reads the rows that were committed when it began, and fails if another one changed
a row that it changes (error 3960). Error 3952 if the database lacks ALLOW_SNAPSHOT_ISOLATION."""

_NAMES = {1: LEVELS[0], 2: LEVELS[1], 3: LEVELS[2], 4: LEVELS[3], 5: SNAPSHOT}
_CURRENT = "SELECT transaction_isolation_level FROM sys.dm_exec_sessions WHERE session_id = @@SPID"


def isolation(session: Connection) -> Isolation:
    """The levels, and that of a new session."""
    rows = session.execute(_CURRENT).rows
    level = _NAMES.get(int(rows[0][0] or 0)) if rows else None
    return Isolation((*LEVELS, SNAPSHOT), level or "read-committed", _begin)


def _begin(level: str, _writes: bool) -> tuple[str, ...]:
    return (f"SET TRANSACTION ISOLATION LEVEL {sql_name(level)}", "BEGIN TRANSACTION")
