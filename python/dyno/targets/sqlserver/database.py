"""The database of a workload: whether it exists, and whether Dyno created it.

Each workload has a database of its own, ``dyno_tpch``, so that its files, recovery model and row
versions are never those of the user's data (``docs/decisions/0029``). A property of the database
marks the ones that Dyno created.
"""

from __future__ import annotations

from dyno.contracts.layout import Layout
from dyno.errors import TargetError
from dyno.targets import mark
from dyno.targets.sqlserver import alone, filegroups
from dyno.targets.sqlserver.connection import Session, literal, quoted
from dyno.targets.sqlserver.errors import owner
from dyno.targets.sqlserver.filegroups import Primary
from dyno.targets.sqlserver.version import Version

PROPERTY = "dyno"
"""The name of the extended property with Dyno's marks."""
_OPTIONS = "RECOVERY SIMPLE, AUTO_CLOSE OFF, AUTO_SHRINK OFF"

_EXISTS = "SELECT name, HAS_DBACCESS(name) FROM sys.databases WHERE name = {}"
_OWN = (
    "SELECT CAST(value AS nvarchar(4000)) FROM sys.extended_properties "  # noqa: S608
    f"WHERE class = 0 AND name = N'{PROPERTY}'"
)


def exists(session: Session, place: str) -> bool:
    """Whether a database exists.

    Raises:
        TargetError: If it does and this login may not use it.
    """
    rows = session.execute(_EXISTS.format(literal(place))).rows
    if not rows:
        return False
    if rows[0][1] != 1:
        statement = f"USE {quoted(place)}; {owner(session.user)}"
        raise TargetError(
            f"The login {session.user} may not use the database {place}; an administrator must "
            f"run: {statement}",
            kind="denied",
        )
    return True


def use(session: Session, place: str) -> bool:
    """Switches a session to a database; False if there is none of that name.

    Raises:
        TargetError: If this login may not use it.
    """
    if not exists(session, place):
        return False
    session.execute(f"USE {quoted(place)}")
    return True


def create(session: Session, workload: str, layout: Layout) -> None:
    """Creates the workload's database with Dyno's mark, and switches to it.

    Raises:
        TargetError: Without the right to create it, with the T-SQL that gives it.
    """
    first = primary(session, layout)
    for statement in created(workload, session.version, layout, first):
        session.execute(statement, CREATE_RIGHT)


def primary(session: Session, layout: Layout) -> Primary | None:
    """The first file of a new database, if the layout places the log; else the server's choice."""
    if layout.log is None:
        return None
    folder, pages = session.execute(PRIMARY).rows[0]
    return Primary.like(str(folder or ""), int(pages or 0))


CREATE_RIGHT = "USE [master]; GRANT CREATE ANY DATABASE"
"""The right to create databases, without its user."""
PRIMARY = (
    "SELECT CAST(SERVERPROPERTY('InstanceDefaultDataPath') AS nvarchar(260)), "
    "MAX(CAST(size AS bigint)) FROM sys.master_files "
    "WHERE database_id = DB_ID(N'model') AND file_id = 1"
)
"""The folder for data files, and pages of the file of ``model``."""


def created(
    workload: str, version: Version, layout: Layout, first: Primary | None = None
) -> list[str]:
    """The statements that create a database with Dyno's mark and switch to it.

    Its log keeps only what recovery needs, because nobody backs up the log of a benchmark. It does
    not close with its last session, as databases of Express do, which would empty its cache.
    Babelfish knows no files, no recovery model and no collation of a database.

    Args:
        workload: The workload.
        version: The server's.
        layout: The layout, which may place the log.
        first: Its first file, if the layout places the log.
    """
    from dyno.targets.sqlserver.ddl import collation

    place = mark.schema_of(workload)
    mine = literal(mark.schema_mark(workload))
    marking = f"EXEC sys.sp_addextendedproperty @name = N'{PROPERTY}', @value = {mine}"
    if version.is_babelfish:
        return [f"CREATE DATABASE {quoted(place)}", f"USE {quoted(place)}", marking]
    found = [filegroups.create_database(place, collation(version), layout, first)]
    if not version.is_cloud:
        found.append(f"ALTER DATABASE {quoted(place)} SET {_OPTIONS}")
    return [*found, f"USE {quoted(place)}", marking]


def is_own(session: Session, workload: str) -> bool:
    """Whether Dyno created the session's current database, for ``workload``."""
    rows = session.execute(_OWN).rows
    return bool(rows) and str(rows[0][0]) == mark.schema_mark(workload)


def drop(session: Session, place: str) -> None:
    """Drops a database that no other session uses, once the server has ended the closed ones.

    Raises:
        DynoError: If another session uses it; nothing was removed.
    """
    session.execute("USE [master]")
    failed = f"Cannot drop the database {place}"
    alone.execute(session, f"DROP DATABASE {quoted(place)}", failed)
