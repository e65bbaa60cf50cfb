"""What a server counts and shows to this user, and the remedy for what it does not."""

from __future__ import annotations

from dataclasses import dataclass

from dyno.errors import DynoError
from dyno.targets.mysql.connection import MysqlConnection
from dyno.targets.mysql.inside.tablecounts import CONSUMER

_CONSUMERS = "global_instrumentation", "thread_instrumentation"
_WAITS = (*_CONSUMERS, "events_waits_current")
_DIGESTS = ("global_instrumentation", "statements_digest")

_OFF = (
    "{product} counts neither statements nor reads by table, and waits for data files count as "
    "CPU, because performance_schema is OFF: "
)
_TURN_ON = "put performance_schema=ON into the server's configuration and restart it"
_USERSTAT = "; for rows by table alone, without a restart: SET GLOBAL userstat = 1"
_PRIVATE = (
    "Dyno's private server leaves it off, since it would take 9 % more CPU time; --set "
    "table_counts=on counts reads by table; for the rest observe a server of your own at a URL "
    "with it on"
)
_TABLES_ONLY = (
    "{product} counts reads by table (table_counts=on), not statements, and waits for data files "
    "count as CPU"
)
_DENIED = (
    "statements, reads by table and waits need another right; an administrator must run: "
    "GRANT SELECT ON performance_schema.* TO {account}"
)
_ENABLE = (
    "{what} not counted; an administrator must run: UPDATE performance_schema.setup_consumers "
    "SET enabled = 'YES' WHERE name IN ({names})"
)
_PROCESS = (
    "sessions of other users are not seen; an administrator must run: "
    "GRANT PROCESS ON *.* TO {account}"
)
_SEES_ALL = "SELECT 1 FROM information_schema.innodb_metrics LIMIT 1"
"""Needs PROCESS, by whatever role it was granted."""


@dataclass(frozen=True)
class Shown:
    """What can be read.

    Attributes:
        waits: Whether ``performance_schema`` has the current waits of threads.
        counts: Whether it has statements and reads by table.
        userstat: Whether MariaDB's user statistics have rows by table instead.
        notes: What cannot be read, with the remedy.
    """

    waits: bool
    counts: bool
    userstat: bool
    notes: tuple[str, ...]

    @classmethod
    def read(cls, session: MysqlConnection, *, private: bool = False) -> Shown:
        """Asks the server.

        Args:
            session: A session of the user.
            private: Whether the server is Dyno's own.

        Raises:
            DynoError: If it does not respond.
        """
        notes: list[str] = []
        names = "'performance_schema', 'userstat'"
        rows = session.execute(f"SHOW GLOBAL VARIABLES WHERE Variable_name IN ({names})").rows
        variables = {str(name).lower(): str(value) for name, value in rows}
        userstat = variables.get("userstat") == "ON"
        enabled: set[str] = set()
        if variables.get("performance_schema") != "ON":
            remedy = _TURN_ON + ("" if userstat or not session.version.is_mariadb else _USERSTAT)
            off = _OFF.format(product=session.version.product)
            notes.append(off + (_PRIVATE if private else remedy))
        else:
            try:
                enabled = _consumers(session)
            except DynoError as error:
                if error.kind != "denied":
                    raise
                notes.append(_DENIED.format(account=session.account() or "this user"))
            else:
                only = private and enabled == {CONSUMER}
                notes += (
                    [_TABLES_ONLY.format(product=session.version.product)]
                    if only
                    else _missing(enabled)
                )
        if not private and not _allowed(session):
            notes.append(_PROCESS.format(account=session.account() or "this user"))
        counts = "global_instrumentation" in enabled
        return cls(enabled.issuperset(_WAITS), counts, userstat and not counts, tuple(notes))


def _consumers(session: MysqlConnection) -> set[str]:
    rows = session.execute(
        "SELECT name FROM performance_schema.setup_consumers WHERE enabled = 'YES'"
    ).rows
    # The rights may be on some of its tables only.
    session.execute("SELECT 1 FROM performance_schema.threads LIMIT 0")
    return {str(row[0]) for row in rows}


def _missing(enabled: set[str]) -> list[str]:
    wanted = {"waits of sessions are": _WAITS, "statements are": _DIGESTS}
    return [
        _ENABLE.format(what=what, names=", ".join(f"'{name}'" for name in lacking))
        for what, names in wanted.items()
        if (lacking := [name for name in names if name not in enabled])
    ]


def _allowed(session: MysqlConnection) -> bool:
    try:
        session.execute(_SEES_ALL)
    except DynoError as error:
        if error.kind != "denied":
            raise
        return False
    return True
