"""The database of a workload: whether it exists, and whether Dyno created it.

Each workload has a database of its own, ``dyno_tpch``, so that its files, recovery model and row
versions are never those of the user's data (``docs/decisions/0029``). A property of the database
marks the ones that Dyno created.
"""

from __future__ import annotations

from dyno.errors import DynoError, TargetError, error_of_kind
from dyno.targets import mark
from dyno.targets.sqlserver.connection import Session, literal, quoted
from dyno.targets.sqlserver.errors import owner

PROPERTY = "dyno"
"""The name of the extended property with Dyno's marks."""

_EXISTS = "SELECT name, HAS_DBACCESS(name) FROM sys.databases WHERE name = {}"
_OWN = (
    "SELECT CAST(value AS nvarchar(4000)) FROM sys.extended_properties "
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


def ensure(session: Session, workload: str) -> bool:
    """Switches to the workload's database, after creating it if it is missing.

    Returns:
        Whether it was created.

    Raises:
        TargetError: Without the right to create it, with the T-SQL that gives it.
    """
    place = mark.schema_of(workload)
    if use(session, place):
        return False
    for statement in created(place, workload, babelfish=session.version.is_babelfish):
        session.execute(statement, CREATE_RIGHT)
    return True


CREATE_RIGHT = "USE [master]; GRANT CREATE ANY DATABASE"


def created(place: str, workload: str, *, babelfish: bool) -> list[str]:
    """The statements that create a database with Dyno's mark and switch to it.

    Its log keeps what the last checkpoint needs: nobody backs up the log of a benchmark.
    """
    statements = [f"CREATE DATABASE {quoted(place)}"]
    if not babelfish:  # which has neither
        statements.append(f"ALTER DATABASE {quoted(place)} SET RECOVERY SIMPLE")
    statements.append(f"USE {quoted(place)}")
    text = literal(mark.schema_mark(workload))
    statements.append(f"EXEC sys.sp_addextendedproperty @name = N'{PROPERTY}', @value = {text}")
    return statements


def is_own(session: Session, workload: str) -> bool:
    """Whether Dyno created the session's current database, for ``workload``."""
    rows = session.execute(_OWN).rows
    return bool(rows) and str(rows[0][0]) == mark.schema_mark(workload)


def drop(session: Session, place: str) -> None:
    """Drops a database that no other session uses.

    Raises:
        DynoError: If another session uses it; nothing was removed.
    """
    session.execute("USE [master]")
    try:
        session.execute(f"DROP DATABASE {quoted(place)}")
    except DynoError as error:
        raise error_of_kind(error.kind, f"Cannot drop the database {place}: {error}") from error
