"""Tables in MariaDB and MySQL: DDL from the neutral schema, with Dyno's mark.

InnoDB stores rows in primary key order, so the table is created with its key: adding it after the
load would copy every row again. The generator produces rows in key order. CPU time of MariaDB 10.11
for ``lineitem`` at scale 0.1: 2.5 s with the key; 2.4 s without and 1.6 s to add it. Other indexes
are added later: 1.1 s for two, against 3.5 s more for the load if they exist before it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from dyno.contracts import schema
from dyno.contracts.target import Loaded
from dyno.errors import DynoError, TargetError
from dyno.targets import journal, mark
from dyno.targets.mysql import kept
from dyno.targets.mysql.connection import MysqlConnection, literal, quoted

_TYPES = {"int32": "INT", "int64": "BIGINT", "date": "DATE", "timestamp": "DATETIME(6)"}

_TABLE = "ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"
"""Binary collation: texts compare and sort by their bytes; language collations differ."""


def column_type(kind: dict[str, Any]) -> str:
    """The type of a column, such as ``DECIMAL(15,2)``.

    Raises:
        DynoError: If the generator's type is unknown.
    """
    match kind:
        case {"type": "decimal", "precision": int(precision), "scale": int(scale)}:
            return f"DECIMAL({precision},{scale})"
        case {"type": "char", "len": int(length)}:
            return f"CHAR({length})"
        case {"type": "varchar", "max": int(length)}:
            return f"VARCHAR({length})"
        case {"type": str(name)} if name in _TYPES:
            return _TYPES[name]
        case _:
            raise DynoError(f"MySQL does not support the column type {kind}.")


def create_table(
    place: str, table: dict[str, Any], comment: str, key: Sequence[str] | None = None
) -> str:
    """``CREATE TABLE`` with its primary key or with another one, which may be empty for none."""
    key = table["primary_key"] if key is None else key
    lines = [
        f"{quoted(column['name'])} {column_type(column['kind'])}"
        f"{' NULL' if column['nullable'] else ' NOT NULL'}"
        for column in table["columns"]
    ]
    if key:
        lines.append(f"PRIMARY KEY ({', '.join(map(quoted, key))})")
    name = f"{quoted(place)}.{quoted(table['name'])}"
    return f"CREATE TABLE {name} ({', '.join(lines)}) {_TABLE} COMMENT={literal(comment)}"


def to_replace(session: MysqlConnection, server: str, workload: str, *, replace: bool) -> list[str]:
    """Tables to drop before the workload's can be created; referring tables come first.

    Raises:
        UsageError: If Dyno did not create one of them, or any exists and ``replace`` is false.
        TargetError: If the server rejects streamed rows.
    """
    place = mark.schema_of(workload)
    present = relations(session, place)
    gone = mark.to_replace(f"{server}, database {place},", workload, present, replace=replace)
    require_local_infile(session, server)
    gone = referring_first(gone, references(session, place))
    if journal.is_dynos(present.get(journal.TABLE), workload):
        gone.insert(0, journal.TABLE)
    if kept.is_ours(present.get(kept.TABLE), workload):
        gone.append(kept.TABLE)
    return gone


def replace_tables(
    session: MysqlConnection, place: str, gone: Sequence[str], created: Sequence[str]
) -> None:
    """Drops tables and creates others. This is not atomic in MariaDB and MySQL."""
    session.execute(f"CREATE DATABASE IF NOT EXISTS {quoted(place)}")
    for name in gone:
        session.execute(f"DROP TABLE {quoted(place)}.{quoted(name)}")
    for statement in created:
        session.execute(statement)


def set_mark(session: MysqlConnection, workload: str, loaded: Loaded) -> None:
    """Writes Dyno's mark to the workload's tables: a metadata change only.

    Drops the journal once all of them are marked as complete.
    """
    place = mark.schema_of(workload)
    if loaded.layout:
        digest = kept.put(session, place, workload, loaded.layout)
        loaded = dataclasses.replace(loaded, layout=digest)
    text = literal(mark.write(workload, loaded))
    for name in schema.table_names(workload):
        session.execute(f"ALTER TABLE {quoted(place)}.{quoted(name)} COMMENT = {text}")
    if loaded.complete:
        drop_journal(session, place, workload, relations(session, place))


def drop_journal(
    session: MysqlConnection, place: str, workload: str, present: Mapping[str, str | None]
) -> None:
    """Drops the journal of a load, unless Dyno did not create the table of that name."""
    if journal.is_dynos(present.get(journal.TABLE), workload):
        session.execute(f"DROP TABLE {quoted(place)}.{quoted(journal.TABLE)}")


def loaded(session: MysqlConnection, workload: str) -> Loaded | None:
    """Reads Dyno's mark from the workload's tables."""
    place = mark.schema_of(workload)
    found = mark.read(relations(session, place), workload)
    if found is None or not found.layout:
        return found
    return dataclasses.replace(found, layout=kept.get(session, place, found.layout))


def relations(session: MysqlConnection, place: str) -> dict[str, str | None]:
    """All relations of a database, with their comments."""
    found = session.execute(
        "SELECT table_name, table_comment FROM information_schema.tables "  # noqa: S608  (quoted)
        f"WHERE table_schema = {literal(place)}"
    )
    return {str(name): comment for name, comment in found.rows}


def index_names(session: MysqlConnection, place: str) -> set[tuple[str, str]]:
    """Table and name of every index in a database."""
    found = session.execute(
        "SELECT DISTINCT table_name, index_name FROM information_schema.statistics "  # noqa: S608
        f"WHERE table_schema = {literal(place)}"
    )
    return {(str(table), str(name)) for table, name in found.rows}


def key_columns(session: MysqlConnection, place: str) -> dict[str, list[str]]:
    """The primary key columns of each table that has a primary key, in key order."""
    rows = session.execute(
        "SELECT table_name, column_name FROM information_schema.statistics "  # noqa: S608
        f"WHERE table_schema = {literal(place)} AND index_name = 'PRIMARY' "
        "ORDER BY table_name, seq_in_index"
    ).rows
    found: dict[str, list[str]] = {}
    for table, column in rows:
        found.setdefault(str(table), []).append(str(column))
    return found


def foreign_keys(session: MysqlConnection, place: str) -> set[tuple[str, str]]:
    """Table and name of every foreign key in a database."""
    rows = session.execute(
        "SELECT table_name, constraint_name FROM information_schema.table_constraints "  # noqa: S608
        f"WHERE table_schema = {literal(place)} AND constraint_type = 'FOREIGN KEY'"
    ).rows
    return {(str(table), str(name)) for table, name in rows}


def references(session: MysqlConnection, place: str) -> dict[str, set[str]]:
    """For each table, the other tables of a database that refer to it."""
    rows = session.execute(
        "SELECT referenced_table_name, table_name FROM "  # noqa: S608  (quoted)
        f"information_schema.referential_constraints WHERE constraint_schema = {literal(place)}"
    ).rows
    found: dict[str, set[str]] = {}
    for table, other in rows:
        found.setdefault(str(table), set()).add(str(other))
    return found


def referring_first(names: Sequence[str], references: Mapping[str, set[str]]) -> list[str]:
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


def require_local_infile(session: MysqlConnection, server: str) -> None:
    """Rejects a server that does not accept streamed rows.

    Raises:
        TargetError: With the statement that enables them.
    """
    if session.execute("SELECT @@GLOBAL.local_infile").rows[0][0] != 1:
        raise TargetError(
            f"{server} does not allow LOAD DATA LOCAL INFILE; allow it on the server: SET "
            "GLOBAL local_infile = 1",
            kind="denied",
        )
