"""Lists and removes Dyno's objects on a server at a URL.

Tables and procedures have Dyno's mark, and so have the databases that Dyno created. A database of
the administrator's stays, and so does one of Dyno's with other objects in it.
"""

from __future__ import annotations

from dyno import workloads
from dyno.contracts import databases
from dyno.errors import UsageError
from dyno.targets import journal, mark
from dyno.targets.sqlserver import database, ddl, newdatabase, partitions, procedures
from dyno.targets.sqlserver.connection import Session, quoted

_NAMES = "SELECT name FROM sys.databases WHERE HAS_DBACCESS(name) = 1"
_LEFT = (
    "SELECT COUNT(*) FROM sys.objects WHERE is_ms_shipped = 0 AND parent_object_id = 0 "
    "AND type NOT IN ('S', 'IT', 'SQ')"
)


def marked(session: Session) -> list[str]:
    """Descriptions of the tables, procedures and databases with Dyno's mark."""
    found: list[str] = []
    for place, of in _places(session).items():
        found += _described(session, place, of)
        if any(database.is_own(session, workload) for workload in of):
            found.append(f"database {place}, if empty")
    return [*found, *(f"database {name}" for name in newdatabase.left(session))]


def remove(session: Session) -> list[str]:
    """Removes them: of each database procedures and tables, all or none, then the database.

    Returns:
        Descriptions of the removed objects.

    Raises:
        UsageError: If another table refers to one of them; nothing of its database was removed.
        DatabaseError: If this login lacks the right.
    """
    found: list[str] = []
    for place, of in _places(session).items():
        found += _described(session, place, of)
        _remove(session, of)
        own = any(database.is_own(session, workload) for workload in of)
        if own and int(session.execute(_LEFT).rows[0][0]) == 0:
            database.drop(session, place)
            found.append(f"database {place}")
    return [*found, *(f"database {name}" for name in newdatabase.sweep(session))]


def _remove(session: Session, of: list[str]) -> None:
    tables = [name for workload in of for name in _tables(session, workload)]
    _require_free(session, tables)
    tables = ddl.referring_first(tables, ddl.references(session))
    with ddl.transaction(session):
        for workload in of:
            for statement in procedures.drops(session, workload):
                session.execute(statement)
        for name in tables:
            session.execute(f"DROP TABLE {ddl.qualified(name)}")
        for statement in partitions.drop(tables):
            session.execute(statement)


def _described(session: Session, place: str, of: list[str]) -> list[str]:
    """The tables and procedures of the session's database."""
    session.execute(f"USE {quoted(place)}")
    found = [f"table {place}.{name}" for workload in of for name in _tables(session, workload)]
    return found + [
        f"procedure {name}" for workload in of for name in procedures.marked(session, workload)
    ]


def _places(session: Session) -> dict[str, list[str]]:
    """The databases with Dyno's names, each with the workloads whose tables it may have."""
    names = [str(row[0]) for row in session.execute(_NAMES).rows]
    found: dict[str, list[str]] = {}
    for workload in databases.in_schemas(workloads.names(), names):
        found.setdefault(mark.schema_of(workload), []).append(workload)
    return found


def _tables(session: Session, workload: str) -> list[str]:
    present = ddl.relations(session)
    created = mark.set_up(present, workload)
    own = [
        name
        for name, text in sorted(present.items())
        if mark.is_mark(text, workload) or name in created or _is_journal(name, text, workload)
    ]
    return ddl.referring_first(own, ddl.references(session))


def _is_journal(name: str, text: str | None, workload: str) -> bool:
    return name == journal.TABLE and journal.is_journal(text, workload)


def _require_free(session: Session, tables: list[str]) -> None:
    """Rejects a removal that a foreign key of another table would stop halfway."""
    for table, others in ddl.references(session).items():
        foreign = sorted(others - {*tables})
        if table in tables and foreign:
            raise UsageError(
                f"{foreign[0]} was not created by Dyno and refers to {table}; drop it or its "
                "foreign key first. Nothing was removed."
            )
