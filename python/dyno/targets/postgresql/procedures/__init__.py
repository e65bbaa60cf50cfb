"""A workload's transactions as stored procedures (``dyno run --mode procedure``).

The text of a workload's procedures is ``<workload>.sql`` in this folder. They are in the schema of
its tables. Their comment has Dyno's mark and a digest of their text; they are recreated when the
text changes.
"""

from __future__ import annotations

import re
from typing import Any

from psycopg import sql

from dyno.targets import mark, procedures
from dyno.targets.postgresql import ddl, privilege
from dyno.targets.postgresql.connection import PostgresConnection
from dyno.targets.procedures import Procedures


def ensure(session: PostgresConnection, server: str, workload: str) -> dict[str, Any]:
    """Creates the procedures of a database, unless they exist in this version.

    Returns:
        The record: names, version, and whether they were created.

    Raises:
        UsageError: If Dyno did not create a procedure with one of their names.
        TargetError: If this user may not create them.
    """
    place = mark.schema_of(workload)
    text = procedures.text(__name__, workload).rstrip().removesuffix(";")
    names = re.findall(r"^CREATE PROCEDURE \{place\}\.(\w+)", text, re.MULTILINE)
    own = Procedures.of(workload, text, names)
    present = [(name, remark) for name, remark, _ in _present(session, place)]
    own.require_own(present, f"{server}, schema {place}, contains routines")
    if own.are_there(present):
        return own.facts(made=False)
    privilege.require(session, server, workload, "procedures")
    remarks = [
        sql.SQL("COMMENT ON PROCEDURE {} IS {}").format(
            sql.Identifier(place, name), sql.Literal(own.comment)
        )
        for name in own.names
    ]
    create = sql.SQL(text).format(place=sql.Identifier(place))  # pyright: ignore[reportArgumentType]
    ddl.run(session, [*drops(session, workload), create, *remarks])
    return own.facts(made=True)


def drops(session: PostgresConnection, workload: str) -> list[sql.Composed]:
    """The statements that drop a workload's procedures with Dyno's mark."""
    place = mark.schema_of(workload)
    # The server returns the argument types, which identify overloaded routines, quoted.
    return [
        sql.SQL("DROP PROCEDURE {}({})").format(
            sql.Identifier(place, name),
            sql.SQL(arguments),  # pyright: ignore[reportArgumentType]
        )
        for name, remark, arguments in _present(session, place)
        if mark.is_mark(remark, workload)
    ]


def marked(session: PostgresConnection, workload: str) -> list[str]:
    """Names of the procedures with Dyno's mark, with their schema."""
    place = mark.schema_of(workload)
    present = _present(session, place)
    return [f"{place}.{name}" for name, remark, _ in present if mark.is_mark(remark, workload)]


def _present(session: PostgresConnection, place: str) -> list[tuple[str, str | None, str]]:
    """Routines in a schema: name, comment, and the argument types."""
    query = sql.SQL(
        "SELECT p.proname, obj_description(p.oid, 'pg_proc'), "
        "pg_get_function_identity_arguments(p.oid) "
        "FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace "
        "WHERE n.nspname = {} ORDER BY 1, 3"
    )
    found = ddl.run(session, [query.format(sql.Literal(place))])
    return [(str(name), remark, str(arguments)) for name, remark, arguments in found]
