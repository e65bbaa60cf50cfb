"""Whether a login may create a workload's database and tables, and use them."""

from __future__ import annotations

from dyno import workloads
from dyno.contracts import schema
from dyno.errors import TargetError
from dyno.targets import mark
from dyno.targets.sqlserver import database, ddl
from dyno.targets.sqlserver.connection import Session, literal, quoted
from dyno.targets.sqlserver.errors import owner

SYSADMIN = "COALESCE(IS_SRVROLEMEMBER('sysadmin'), 0)"
"""Whether the login is a member of ``sysadmin``."""

_SERVER = (
    "SELECT COALESCE(HAS_PERMS_BY_NAME(NULL, NULL, 'CREATE ANY DATABASE'), 0), "
    f"COALESCE(IS_SRVROLEMEMBER('dbcreator'), 0), {SYSADMIN}"
)
_DATABASE = (
    "SELECT COALESCE(HAS_PERMS_BY_NAME({place}, 'DATABASE', 'CREATE TABLE'), 0), "
    f"COALESCE(IS_MEMBER('db_owner'), 0), {SYSADMIN}"
)

_TABLE = "COALESCE(HAS_PERMS_BY_NAME({name}, 'OBJECT', '{right}'), 0)"
_CHANGE = ("SELECT", "INSERT", "UPDATE", "DELETE")


def require(session: Session, server: str, workload: str) -> None:
    """Rejects a login that may not create the workload's database, or its tables in it.

    Raises:
        TargetError: With the T-SQL that gives the right.
    """
    place = mark.schema_of(workload)
    if database.use(session, place):
        question, statement = _DATABASE, f"USE {quoted(place)}; {owner(session.user)}"
    else:
        question = _SERVER
        statement = (
            f"{database.CREATE_RIGHT} TO {quoted(session.user)} (or create the database: "
            f"{made_by_administrator(place, session.user)})"
        )
    if any(session.execute(question.format(place=literal(quoted(place)))).rows[0]):
        return
    raise TargetError(
        f"{server}: the login {session.user} has no right to create the {workload} tables; an "
        f"administrator must run: {statement}",
        kind="denied",
    )


def require_use(session: Session, server: str, workload: str, *, seen: bool) -> None:
    """Rejects a login that may not read the tables in the session's database, or change them.

    Args:
        session: A session in that database.
        server: The server, for the message.
        workload: The workload.
        seen: Whether the login sees the tables: those that it may not use are hidden from it.

    Raises:
        TargetError: With the T-SQL that gives the rights that the workload needs.
    """
    place, user = mark.schema_of(workload), quoted(session.user)
    rights = _CHANGE if workloads.of_kind([workload], "oltp") is not None else _CHANGE[:1]
    asked = [
        _TABLE.format(name=literal(ddl.qualified(name)), right=right)
        for name in schema.table_names(workload)
        for right in rights
    ]
    if not seen and any(session.execute(_DATABASE.format(place=literal(quoted(place)))).rows[0]):
        return  # it may create them: there are none
    if seen and all(session.execute(f"SELECT {', '.join(asked)}").rows[0]):
        return
    load = "" if seen else f"; to load them: ALTER ROLE db_owner ADD MEMBER {user}"
    raise TargetError(
        f"{server}: the login {session.user} has no right to use the {workload} tables; an "
        f"administrator must run: USE {quoted(place)}; GRANT {', '.join(rights)} ON "
        f"SCHEMA::{quoted(ddl.SCHEMA)} TO {user}{load}",
        kind="denied",
    )


def made_by_administrator(place: str, user: str) -> str:
    """The T-SQL that creates a workload's database for a login without the right to do so."""
    name = quoted(place)
    return f"CREATE DATABASE {name}; USE {name}; {owner(user)}"
