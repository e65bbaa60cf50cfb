"""Tables in DuckDB: DDL from the neutral schema, with Dyno's mark."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any

from dyno.contracts import schema
from dyno.contracts.target import Loaded
from dyno.errors import DynoError
from dyno.targets import journal, mark
from dyno.targets.duckdb.connection import DuckdbConnection

_TYPES = {
    "int32": "INTEGER",
    "int64": "BIGINT",
    "date": "DATE",
    "timestamp": "TIMESTAMP",
    # DuckDB accepts lengths but ignores them; all texts have the same type.
    "char": "VARCHAR",
    "varchar": "VARCHAR",
}


def quoted(*names: str) -> str:
    """A qualified identifier."""
    return ".".join('"' + name.replace('"', '""') + '"' for name in names)


def literal(text: str) -> str:
    """A string literal."""
    return "'" + text.replace("'", "''") + "'"


def column_type(kind: dict[str, Any]) -> str:
    """The type of a column.

    Raises:
        DynoError: If the generator's type is unknown.
    """
    match kind:
        case {"type": "decimal", "precision": int(precision), "scale": int(scale)}:
            return f"DECIMAL({precision},{scale})"
        case {"type": str(name)} if name in _TYPES:
            return _TYPES[name]
        case _:
            raise DynoError(f"DuckDB does not support the column type {kind}.")


def create_table(place: str, table: dict[str, Any]) -> str:
    """``CREATE TABLE`` without a key, because its index would only slow down a column store.

    Free text is compressed with zstd: DuckDB's default takes the same space and a third more CPU
    time
    to write (see ``docs/decisions/0006``).
    """
    columns = [
        f"{quoted(column['name'])} {column_type(column['kind'])}"
        f"{'' if column['nullable'] else ' NOT NULL'}"
        f"{' USING COMPRESSION zstd' if column['prose'] else ''}"
        for column in table["columns"]
    ]
    return f"CREATE TABLE {quoted(place, table['name'])} ({', '.join(columns)})"


def create_tables(session: DuckdbConnection, file: str, workload: str, *, replace: bool) -> None:
    """Creates the workload's tables, all or none (see the protocol)."""
    place = mark.schema_of(workload)
    tables = schema.tables(workload)
    present = relations(session, place)
    gone = mark.to_replace(f"{file}, schema {place},", workload, present, replace=replace)
    run(
        session,
        [
            f"CREATE SCHEMA IF NOT EXISTS {quoted(place)}",
            *(f"DROP TABLE {quoted(place, name)}" for name in gone),
            *drop_journal(place, workload, present),
            *(create_table(place, table) for table in tables),
            *_comments(place, workload, [table["name"] for table in tables], None),
        ],
    )


def set_mark(session: DuckdbConnection, workload: str, state: Loaded) -> None:
    """Writes Dyno's mark to the workload's tables; drops the journal when they are complete."""
    place, names = mark.schema_of(workload), schema.table_names(workload)
    gone = drop_journal(place, workload, relations(session, place)) if state.complete else []
    run(session, [*_comments(place, workload, names, state), *gone])


def drop_journal(place: str, workload: str, present: Mapping[str, str | None]) -> list[str]:
    """The statement that drops Dyno's journal of a load, if there is one."""
    if not journal.is_dynos(present.get(journal.TABLE), workload):
        return []
    return [f"DROP TABLE {quoted(place, journal.TABLE)}"]


def loaded(session: DuckdbConnection, workload: str) -> Loaded | None:
    """Reads Dyno's mark from the workload's tables."""
    return mark.read(relations(session, mark.schema_of(workload)), workload)


def relations(session: DuckdbConnection, place: str) -> dict[str, str | None]:
    """All relations of a schema, with their comments."""
    where = f"database_name = current_database() AND schema_name = {literal(place)}"
    rows = session.execute(
        f"SELECT table_name, comment FROM duckdb_tables() WHERE {where} "  # noqa: S608  (quoted)
        f"UNION ALL SELECT view_name, comment FROM duckdb_views() WHERE {where}"
    ).rows
    return {str(name): comment for name, comment in rows}


def index_names(session: DuckdbConnection, place: str) -> set[str]:
    """The keys and indexes of a schema, as ``primary key TABLE`` and ``index NAME``."""
    where = f"database_name = current_database() AND schema_name = {literal(place)}"
    rows = session.execute(
        f"SELECT 'index ' || index_name FROM duckdb_indexes() WHERE {where} "  # noqa: S608  (quoted)
        "UNION ALL SELECT 'primary key ' || table_name FROM duckdb_constraints() "
        f"WHERE {where} AND constraint_type = 'PRIMARY KEY'"
    ).rows
    return {str(row[0]) for row in rows}


def run(session: DuckdbConnection, statements: list[str]) -> None:
    """Runs statements as one transaction.

    Raises:
        DynoError: As :meth:`DuckdbConnection.execute`; the transaction is rolled back.
    """
    session.execute("BEGIN")
    try:
        for statement in statements:
            session.execute(statement)
        session.execute("COMMIT")
    except BaseException:
        with contextlib.suppress(DynoError):  # an interrupt has already ended the transaction
            session.execute("ROLLBACK")
        raise


def _comments(place: str, workload: str, names: list[str], state: Loaded | None) -> list[str]:
    text = literal(mark.write(workload, state))
    return [f"COMMENT ON TABLE {quoted(place, name)} IS {text}" for name in names]


def data_bytes(session: DuckdbConnection, workload: str) -> int:
    """Bytes of the file's blocks that hold rows of the workload's tables."""
    place = mark.schema_of(workload)
    blocks: set[int] = set()
    for name in relations(session, place):
        rows = session.execute(
            "SELECT DISTINCT unnest(list_append(additional_block_ids, block_id)) "  # noqa: S608
            f"FROM pragma_storage_info({literal(f'{place}.{name}')}) WHERE persistent"
        ).rows
        blocks.update(int(row[0]) for row in rows if row[0] is not None and row[0] >= 0)
    size = session.execute("SELECT block_size FROM pragma_database_size()").rows[0][0]
    return len(blocks) * int(size)
