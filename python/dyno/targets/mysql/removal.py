"""Lists and removes Dyno's objects on a server at a URL.

Tables and procedures have Dyno's mark. MySQL databases cannot have one. A user without privileges
cannot verify that a database is empty, so Dyno never drops databases.
"""

from __future__ import annotations

from dyno import workloads
from dyno.contracts import databases
from dyno.errors import UsageError
from dyno.targets import mark
from dyno.targets.mysql import ddl, procedures
from dyno.targets.mysql.connection import MysqlConnection, literal, quoted


def marked(session: MysqlConnection) -> list[str]:
    """Descriptions of the tables and procedures with Dyno's mark."""
    return _described(_tables(session), _procedures(session))


def remove(session: MysqlConnection) -> list[str]:
    """Removes them: procedures first, then tables, referring tables first.

    Returns:
        Descriptions of the removed objects.

    Raises:
        UsageError: If another table refers to one of them; nothing was removed.
        DatabaseError: If this user lacks the privilege; earlier objects are removed.
    """
    tables, gone = _tables(session), _procedures(session)
    _require_free(session, tables)
    for database in _databases(session):
        for drop in procedures.drops(session, database):
            session.execute(drop)
    for place, name in tables:
        session.execute(f"DROP TABLE {quoted(place)}.{quoted(name)}")
    return _described(tables, gone)


def _described(tables: list[tuple[str, str]], programs: list[str]) -> list[str]:
    found = [f"table {place}.{name}" for place, name in tables]
    return found + [f"procedure {name}" for name in programs]


def _procedures(session: MysqlConnection) -> list[str]:
    return [name for base in _databases(session) for name in procedures.marked(session, base)]


def _databases(session: MysqlConnection) -> list[str]:
    """Names of workload databases on the server, with or without Dyno's tables."""
    rows = session.execute("SELECT schema_name FROM information_schema.schemata").rows
    return databases.in_schemas(workloads.names(), [str(row[0]) for row in rows])


def _tables(session: MysqlConnection) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for workload in _databases(session):
        place = mark.schema_of(workload)
        present = ddl.relations(session, place)
        created = mark.set_up(present, workload)
        own = [
            name
            for name, comment in sorted(present.items())
            if mark.is_mark(comment, workload) or name in created
        ]
        found += [
            (place, name) for name in ddl.referring_first(own, ddl.references(session, place))
        ]
    return found


def _require_free(session: MysqlConnection, tables: list[tuple[str, str]]) -> None:
    """Rejects a removal that a foreign key of another table would stop halfway."""
    for place in sorted({place for place, _ in tables}):
        rows = session.execute(
            "SELECT constraint_schema, table_name, referenced_table_name FROM "  # noqa: S608
            "information_schema.referential_constraints "
            f"WHERE unique_constraint_schema = {literal(place)}"
        ).rows
        for schema, table, other in rows:
            if (schema, table) not in tables and (place, other) in tables:
                raise UsageError(
                    f"{schema}.{table} was not created by Dyno and refers to {place}.{other}; drop "
                    "it or its foreign key first. Nothing was removed."
                )
