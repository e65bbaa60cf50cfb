"""Transaction isolation in SQL Server.

``READ COMMITTED`` has two forms. With the database's option READ_COMMITTED_SNAPSHOT, a statement
reads the rows as they were committed when it began; without it, a statement waits for the locks of
writers. The level's name is the same, so the record of the run shows the option.
"""

from __future__ import annotations

from dyno.contracts.isolation import LEVELS, Isolation, sql_name
from dyno.contracts.target import Connection

SNAPSHOT = "snapshot"
"""Between repeatable read and serializable: a transaction reads the rows as they were committed
when it began, and fails if another one changed a row that it changes (error 3960)."""

_NAMES = {1: LEVELS[0], 2: LEVELS[1], 3: LEVELS[2], 4: LEVELS[3], 5: SNAPSHOT}
"""By ``sys.dm_exec_sessions.transaction_isolation_level``."""
_CURRENT = (
    "SELECT transaction_isolation_level FROM sys.dm_exec_sessions WHERE session_id = @@SPID"
)
_ALLOWED = "SELECT snapshot_isolation_state FROM sys.databases WHERE database_id = DB_ID()"


def isolation(session: Connection) -> Isolation:
    """The levels, and the session's default.

    The level ``snapshot`` exists if the database allows it (ALLOW_SNAPSHOT_ISOLATION).
    """
    # Everyone may see their own session. Babelfish lists it under another number.
    rows = session.execute(_CURRENT).rows
    level = _NAMES.get(int(rows[0][0]), LEVELS[1]) if rows and rows[0][0] else LEVELS[1]
    state = session.execute(_ALLOWED).rows
    allowed = (SNAPSHOT,) if state and state[0][0] == 1 else ()
    return Isolation((*LEVELS, *allowed), level, _begin)


def _begin(level: str, _writes: bool) -> tuple[str, ...]:
    return (f"SET TRANSACTION ISOLATION LEVEL {sql_name(level)}", "BEGIN TRANSACTION")
