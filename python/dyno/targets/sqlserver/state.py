"""The current values of what Dyno can set on a server, and the statements that set them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field

from dyno.contracts.target import Connection
from dyno.errors import DynoError, TargetError
from dyno.targets.sqlserver import alone, governor, tempfiles
from dyno.targets.sqlserver.connection import Session, literal, quoted
from dyno.targets.sqlserver.tempfiles import TempFile
from dyno.targets.sqlserver.tuning import (
    CONFIGURED,
    DURABILITY,
    GRANT,
    OF_DATABASES,
    SNAPSHOT,
    TEMP_FILES,
)

ADVANCED = "show advanced options"
"""Until it is on, ``sp_configure`` knows none of Dyno's settings."""
GOVERNOR = "resource governor"
"""On or off, as 1 or 0: a new share of memory turns it on."""

_CONFIGURATIONS = (
    "SELECT name, CAST(value AS bigint), CAST(value_in_use AS bigint) FROM sys.configurations "  # noqa: S608
    f"WHERE name IN ({', '.join(map(literal, (ADVANCED, *CONFIGURED)))})"
)
IDENTITY = "SELECT CAST(SERVERPROPERTY('ServerName') AS nvarchar(256))"
STAGED = (
    "SELECT name FROM sys.configurations WHERE is_dynamic = 1 AND value <> value_in_use "
    "AND name <> N'min server memory (MB)' ORDER BY name"
)
"""What RECONFIGURE would put into effect. 0 stored and 16 in use is normal for the exception."""
_WORKSPACE = (
    "SELECT MAX(CAST(max_target_memory_kb AS bigint)) * 1024 "
    "FROM sys.dm_exec_query_resource_semaphores WHERE pool_id = 2"
)
_DATABASES = (
    "SELECT name, page_verify_option_desc, delayed_durability_desc, recovery_model_desc, "
    "CASE is_read_committed_snapshot_on WHEN 1 THEN 'ON' ELSE 'OFF' END, "
    "CASE WHEN state = 0 AND HAS_DBACCESS(name) = 1 THEN 1 ELSE 0 END FROM sys.databases"
)


@dataclass(frozen=True)
class State:
    """Values of a server.

    Attributes:
        stored: Of the instance, by name, as they will be after a restart.
        used: The same as they are in effect.
        databases: Options by database and name.
        temp_files: Data files of tempdb.
        open: Databases that are online and that this login may use.
    """

    stored: Mapping[str, str] = field(default_factory=dict[str, str])
    used: Mapping[str, str] = field(default_factory=dict[str, str])
    databases: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])
    temp_files: Sequence[TempFile] = ()
    open: Set[str] = frozenset()

    def get(self, name: str, database: str = "", *, used: bool = True) -> str | None:
        """A value in effect, or as stored; None if the server lacks it."""
        if database:
            return self.databases.get(database, {}).get(name)
        return (self.used if used else self.stored).get(name)


def read(session: Session, names: Sequence[str]) -> State:
    """The values of some settings.

    Raises:
        DynoError: If this user may not read them.
    """
    stored: dict[str, str] = {}
    used: dict[str, str] = {}
    if {*CONFIGURED, ADVANCED} & {*names}:
        for name, value, in_use in session.execute(_CONFIGURATIONS).rows:
            stored[str(name)], used[str(name)] = str(value), str(in_use)
    if GRANT in names:
        stored[GRANT], used[GRANT], stored[GOVERNOR] = governor.share(session)
        used[GOVERNOR] = stored[GOVERNOR]
    temp: list[TempFile] = []
    if TEMP_FILES in names:
        temp = tempfiles.read(session)
        used[TEMP_FILES] = stored[TEMP_FILES] = str(len(temp))
    databases: dict[str, dict[str, str]] = {}
    opened: set[str] = set()
    if {*OF_DATABASES} & {*names}:
        for name, *values, usable in session.execute(_DATABASES).rows:
            databases[str(name)] = dict(zip(OF_DATABASES, map(str, values), strict=True))
            if usable:
                opened.add(str(name))
    return State(stored, used, databases, temp, opened)


def identity(session: Connection) -> str:
    """The name that a server gives itself, with its instance; empty if it gives none.

    One server may be reached under several hosts.

    Raises:
        DynoError: If the server does not respond.
    """
    try:
        rows = session.execute(IDENTITY).rows
    except DynoError as error:
        if not error.is_refusal:
            raise
        return ""
    return str(rows[0][0] or "") if rows else ""


def staged(session: Connection) -> list[str]:
    """Settings that somebody has stored and that are not in effect.

    Raises:
        DynoError: If this user may not read them.
    """
    return [str(row[0]) for row in session.execute(STAGED).rows]


def workspace_bytes(session: Connection) -> int:
    """Memory that the server has for all sorts and hashes.

    Raises:
        TargetError: If it does not report it.
    """
    value = session.execute(_WORKSPACE).rows[0][0]
    if value is None:
        raise TargetError(
            "The server does not report its memory for sorts and hashes; omit work_memory.",
            kind="database",
        )
    return int(value)


def assign(name: str, database: str, value: str, state: State) -> list[str]:
    """The statements that set a value.

    Args:
        name: The setting.
        database: The database of an option; else empty.
        value: The new value, in the server's syntax.
        state: The values before.
    """
    if name in CONFIGURED or name == ADVANCED:
        return [f"EXEC sys.sp_configure {literal(name)}, {int(value)}", "RECONFIGURE"]
    if name == GOVERNOR:
        how = "RECONFIGURE" if value == "1" else "DISABLE"
        return [f"ALTER RESOURCE GOVERNOR {how}"]
    if name == GRANT:
        option = f"REQUEST_MAX_MEMORY_GRANT_PERCENT = {value}"
        group = f"ALTER WORKLOAD GROUP {quoted('default')} WITH ({option})"
        return [group, "ALTER RESOURCE GOVERNOR RECONFIGURE"]
    if name == TEMP_FILES:
        return tempfiles.add(int(value), state.temp_files)
    equals = " =" if name == DURABILITY else ""
    # It needs the database for itself. It would wait for all other sessions, or end them.
    waits = " WITH NO_WAIT" if name == SNAPSHOT else ""
    return [f"ALTER DATABASE {quoted(database)} SET {name}{equals} {value}{waits}"]


def execute(session: Session, name: str, database: str, statement: str, needs: str = "") -> None:
    """Runs a statement of :func:`assign` or :func:`restore`.

    Raises:
        DynoError: If the server rejects it.
    """
    if name == SNAPSHOT:
        failed = f"Cannot set {name} of {database}, which no other session may use meanwhile"
        alone.execute(session, statement, failed)
    else:
        session.execute(statement, needs)


def restore(name: str, database: str, before: str, value: str, state: State) -> list[str]:
    """The statements that restore a value; none if somebody else has changed it since.

    Args:
        name: The setting.
        database: The database of an option; else empty.
        before: The value before the run.
        value: The one that the run has set.
        state: The values now.
    """
    if name == TEMP_FILES:
        return tempfiles.remove(int(before), int(value), state.temp_files)
    if state.get(name, database, used=False) != value:
        return []
    return assign(name, database, before, state)


def right(name: str) -> str:
    """The GRANT that a change needs, without its login; empty for options of Dyno's databases."""
    if name in OF_DATABASES:
        return ""
    if name in CONFIGURED or name == ADVANCED:
        return "USE [master]; GRANT ALTER SETTINGS"
    return governor.RIGHT
