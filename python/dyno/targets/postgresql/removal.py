"""Lists and removes Dyno's objects on a server at a URL."""

from __future__ import annotations

from psycopg import sql

from dyno import workloads
from dyno.contracts import databases
from dyno.targets import mark
from dyno.targets.postgresql import ddl, newdatabase, procedures, tablespaces
from dyno.targets.postgresql.connection import PostgresConnection


def marked(session: PostgresConnection) -> list[str]:
    """Descriptions of the objects with Dyno's mark."""
    found = [f"table {place}.{name}" for place, name in _tables(session)]
    found += [f"procedure {name}" for name in _procedures(session)]
    found += [f"schema {place}" for place in _schemas(session)]
    found += [f"database {name}" for name in newdatabase.left(session)]
    return found + [f"tablespace {name}, if empty" for name in tablespaces.own(session)]


def remove(session: PostgresConnection) -> list[str]:
    """Removes tables and procedures, all or none, then empty schemas, databases and tablespaces.

    A schema of Dyno with other objects remains, including these objects.

    Returns:
        Descriptions of the removed objects.

    Raises:
        DatabaseError: If an object of another owner depends on a table, or this user lacks the
            privilege.
    """
    tables = _tables(session)
    gone = [f"table {place}.{name}" for place, name in tables]
    gone += [f"procedure {name}" for name in _procedures(session)]
    drops = [drop for name in _databases(session) for drop in procedures.drops(session, name)]
    if tables:
        names = sql.SQL(", ").join(sql.Identifier(place, name) for place, name in tables)
        drops.append(sql.SQL("DROP TABLE {}").format(names))
    if drops:
        ddl.run(session, drops)
    for place in _schemas(session):
        if _is_empty(session, place):
            ddl.run(session, [sql.SQL("DROP SCHEMA {}").format(sql.Identifier(place))])
            gone.append(f"schema {place}")
    gone += [f"database {name}" for name in newdatabase.sweep(session)]
    return gone + [f"tablespace {name}" for name in tablespaces.sweep(session, None, None)]


def _databases(session: PostgresConnection) -> list[str]:
    """Workload databases with a schema on the server, Dyno's or not."""
    rows = session.execute("SELECT nspname FROM pg_namespace").rows
    return databases.in_schemas(workloads.names(), [str(row[0]) for row in rows])


def _tables(session: PostgresConnection) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for workload in _databases(session):
        place = mark.schema_of(workload)
        present = ddl.relations(session, place, kinds="rp")
        created = mark.set_up(present, workload)
        for name, comment in sorted(present.items()):
            if mark.is_mark(comment, workload) or name in created:
                found.append((place, name))
    return found


def _procedures(session: PostgresConnection) -> list[str]:
    return [
        name for database in _databases(session) for name in procedures.marked(session, database)
    ]


def _schemas(session: PostgresConnection) -> list[str]:
    rows = session.execute(
        "SELECT nspname, obj_description(oid, 'pg_namespace') FROM pg_namespace ORDER BY 1"
    ).rows
    own = {mark.schema_of(name): mark.schema_mark(name) for name in _databases(session)}
    return [str(name) for name, text in rows if name in own and own[name] == text]


def _is_empty(session: PostgresConnection, place: str) -> bool:
    """Whether a schema is empty; types and functions count too."""
    query = sql.SQL(
        "SELECT count(*) FROM pg_depend d JOIN pg_namespace n ON n.oid = d.refobjid "
        "WHERE d.refclassid = 'pg_namespace'::regclass AND n.nspname = {}"
    )
    return ddl.run(session, [query.format(sql.Literal(place))])[0][0] == 0
