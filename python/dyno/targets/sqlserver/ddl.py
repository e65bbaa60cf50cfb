"""Tables in SQL Server: DDL from the neutral schema, with Dyno's mark.

The functions work in the session's current database (``database.use``). The mark of a table is an
extended property. DDL is transactional, so tables are replaced all or none.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Generator, Iterable, Mapping, Sequence
from typing import Any

from dyno.contracts import schema
from dyno.contracts.target import Loaded
from dyno.errors import DynoError
from dyno.targets import journal, mark
from dyno.targets.sqlserver import database, kept
from dyno.targets.sqlserver.connection import Session, literal, quoted
from dyno.targets.sqlserver.database import PROPERTY
from dyno.targets.sqlserver.version import Version

SCHEMA = "dbo"
"""The schema of all of Dyno's objects, in the workload's database."""

_TYPES = {"int32": "int", "int64": "bigint", "date": "date", "timestamp": "datetime2(6)"}

_UTF8 = 15
"""SQL Server 2019 has collations with UTF-8."""


def collation(version: Version) -> str:
    """The collation of text columns: they compare and sort by their bytes, as elsewhere."""
    if version.is_babelfish:
        return "Latin1_General_BIN2"
    utf8 = version.is_cloud or version.number[:1] >= (_UTF8,)
    return "Latin1_General_100_BIN2_UTF8" if utf8 else "Latin1_General_100_BIN2"


def column_type(kind: dict[str, Any], collation: str = "") -> str:
    """The type of a column, such as ``decimal(15,2)``; that of a text with its collation.

    Without one, the text has the collation of the database.

    Raises:
        DynoError: If the generator's type is unknown.
    """
    match kind:
        case {"type": "decimal", "precision": int(precision), "scale": int(scale)}:
            return f"decimal({precision},{scale})"
        case {"type": "char", "len": int(length)}:
            return f"char({length}){_collated(collation)}"
        case {"type": "varchar", "max": int(length)}:
            return f"varchar({length if length <= 8000 else 'max'}){_collated(collation)}"
        case {"type": str(name)} if name in _TYPES:
            return _TYPES[name]
        case _:
            raise DynoError(f"SQL Server does not support the column type {kind}.")


def create_table(table: dict[str, Any], collation: str = "", key: Sequence[str] = ()) -> str:
    """``CREATE TABLE`` in a session of its database, with a primary key if ``key`` names one."""
    lines = [
        f"{quoted(column['name'])} {column_type(column['kind'], collation)}"
        f"{' NULL' if column['nullable'] else ' NOT NULL'}"
        for column in table["columns"]
    ]
    if key:
        lines.append(f"PRIMARY KEY ({', '.join(map(quoted, key))})")
    return f"CREATE TABLE {qualified(table['name'])} ({', '.join(lines)})"


def _collated(collation: str) -> str:
    return f" COLLATE {collation}" if collation else ""


def qualified(name: str) -> str:
    """The quoted name of an object in the current database."""
    return f"{quoted(SCHEMA)}.{quoted(name)}"


def to_replace(session: Session, server: str, workload: str, *, replace: bool) -> list[str]:
    """Tables to drop before the workload's can be created; referring tables come first.

    Raises:
        UsageError: If Dyno did not create one of them, or any exists and ``replace`` is false.
    """
    present = relations(session)
    # Most databases of others ignore the case of names, and a table LineItem would be in the way.
    present = {name.lower(): text for name, text in present.items()} | present
    place = f"{server}, database {mark.schema_of(workload)},"
    gone = referring_first(
        mark.to_replace(place, workload, present, replace=replace), references(session)
    )
    if journal.is_dynos(present.get(journal.TABLE), workload):
        gone.insert(0, journal.TABLE)
    return gone


def replace_tables(
    session: Session, workload: str, gone: Sequence[str], created: Sequence[str]
) -> None:
    """Drops tables, creates others and marks the workload's, all or none."""
    text = mark.write(workload, None)
    with transaction(session):
        for name in gone:
            session.execute(f"DROP TABLE {qualified(name)}")
        for statement in created:
            session.execute(statement)
        for name in schema.table_names(workload):
            session.execute(marking(name, text))


def set_mark(session: Session, workload: str, loaded: Loaded) -> None:
    """Writes Dyno's mark to the workload's tables, and drops the journal if they are complete."""
    names = schema.table_names(workload)
    database.use(session, mark.schema_of(workload))
    with transaction(session):
        if loaded.layout:
            digest = kept.put(session, names[0], loaded.layout)
            loaded = dataclasses.replace(loaded, layout=digest)
        text = mark.write(workload, loaded)
        for name in names:
            session.execute(marking(name, text))
        if loaded.complete:
            drop_journal(session, workload, relations(session))


def marking(table: str, text: str, name: str = PROPERTY) -> str:
    """The batch that sets an extended property of a table, whether it exists or not."""
    where = (
        f"@level0type = N'SCHEMA', @level0name = N'{SCHEMA}', @level1type = N'TABLE', "
        f"@level1name = {literal(table)}"
    )
    found = (
        "SELECT 1 FROM sys.extended_properties WHERE class = 1 AND minor_id = 0 AND "  # noqa: S608
        f"major_id = OBJECT_ID({literal(qualified(table))}) AND name = {literal(name)}"
    )
    value = f"@name = {literal(name)}, @value = {literal(text)}"
    return (
        f"IF EXISTS ({found}) EXEC sys.sp_updateextendedproperty {value}, {where} "
        f"ELSE EXEC sys.sp_addextendedproperty {value}, {where}"
    )


def drop_journal(session: Session, workload: str, present: Mapping[str, str | None]) -> None:
    """Drops the journal of a load, unless Dyno did not create the table of that name."""
    if journal.is_dynos(present.get(journal.TABLE), workload):
        session.execute(f"DROP TABLE {qualified(journal.TABLE)}")


def loaded(session: Session, workload: str) -> Loaded | None:
    """Reads Dyno's mark from the workload's tables; None if there is no database of them."""
    if not database.use(session, mark.schema_of(workload)):
        return None
    found = mark.read(relations(session), workload)
    if found is None or not found.layout:
        return found
    first = schema.table_names(workload)[0]
    return dataclasses.replace(found, layout=kept.get(session, first, found.layout))


def relations(session: Session) -> dict[str, str | None]:
    """All relations of the current database's schema, with the marks of tables."""
    rows = session.execute(
        "SELECT o.name, CAST(p.value AS nvarchar(4000)) FROM sys.objects o "  # noqa: S608
        f"LEFT JOIN sys.extended_properties p ON p.class = 1 AND p.name = N'{PROPERTY}' "
        "AND p.major_id = o.object_id AND p.minor_id = 0 "
        f"WHERE o.schema_id = SCHEMA_ID(N'{SCHEMA}') AND o.type IN ('U', 'V', 'SN')"
    ).rows
    return {str(name): None if text is None else str(text) for name, text in rows}


def references(session: Session) -> dict[str, set[str]]:
    """For each table of the current database, the other tables that refer to it."""
    rows = session.execute(
        "SELECT OBJECT_NAME(referenced_object_id), OBJECT_NAME(parent_object_id) "
        "FROM sys.foreign_keys WHERE referenced_object_id <> parent_object_id"
    ).rows
    found: dict[str, set[str]] = {}
    for table, other in rows:
        found.setdefault(str(table), set()).add(str(other))
    return found


def referring_first(names: Iterable[str], references: Mapping[str, set[str]]) -> list[str]:
    """Sorts tables so that they can be dropped in this order.

    Args:
        names: The tables.
        references: By table, those that refer to it.
    """
    found: list[str] = []
    left = list(names)
    while left:
        free = [name for name in left if not references.get(name, set()) & ({*left} - {name})]
        found += free or left  # in a cycle, the server rejects the drop
        left = [name for name in left if name not in found]
    return found


@contextlib.contextmanager
def transaction(session: Session) -> Generator[None]:
    """Commits at the end of the block, and rolls back after an error."""
    session.execute("BEGIN TRANSACTION")
    try:
        yield
        session.execute("COMMIT")
    except BaseException:
        with contextlib.suppress(DynoError):
            session.execute("IF @@TRANCOUNT > 0 ROLLBACK")
        raise
