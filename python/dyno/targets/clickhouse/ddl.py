"""Tables in ClickHouse: DDL from the neutral schema, with Dyno's mark."""

from __future__ import annotations

from typing import Any

from dyno.contracts import schema
from dyno.contracts.layout import Layout, TableDesign
from dyno.contracts.target import Loaded
from dyno.errors import DynoError
from dyno.targets import mark
from dyno.targets.clickhouse import design
from dyno.targets.clickhouse.connection import ClickhouseConnection

_TYPES = {
    "int32": "Int32",
    "int64": "Int64",
    # Two-byte days from 1970 to 2149; Date32 for columns with earlier ones.
    "date": "Date",
    "timestamp": "DateTime64(6, 'UTC')",
    "char": "String",
    "varchar": "String",
}


def quoted(*names: str) -> str:
    """A qualified identifier."""
    return ".".join("`" + name.replace("\\", "\\\\").replace("`", "\\`") + "`" for name in names)


def literal(text: str) -> str:
    """A string literal."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def column_type(column: dict[str, Any]) -> str:
    """The type of a column; only nullable columns have a null mask.

    Raises:
        DynoError: If the generator's type is unknown.
    """
    match column["kind"]:
        case {"type": "decimal", "precision": int(precision), "scale": int(scale)}:
            name = f"Decimal({precision}, {scale})"
        case {"type": "date"} if column.get("early"):
            name = "Date32"
        case {"type": str(kind)} if kind in _TYPES:
            name = _TYPES[kind]
        case kind:
            raise DynoError(f"ClickHouse does not support the column type {kind}.")
    return f"Nullable({name})" if column["nullable"] else name


def create_table(
    place: str, table: dict[str, Any], comment: str, layout: Layout | None = None
) -> str:
    """``CREATE TABLE`` in rows, or in columns sorted by the primary key or as the layout says."""
    columns = [f"{quoted(column['name'])} {column_type(column)}" for column in table["columns"]]
    if design.in_rows(table["name"], layout):
        return (
            f"CREATE TABLE {quoted(place, table['name'])} ({', '.join(columns)}) "
            f"ENGINE = {design.ROWS} COMMENT {literal(comment)}"
        )
    order = design.order(table, layout)
    by = ", ".join(quoted(name) for name in order)
    nullable = any(column["nullable"] for column in table["columns"] if column["name"] in order)
    parts = _partitions(table, layout.design(table["name"])) if layout else ""
    return (
        f"CREATE TABLE {quoted(place, table['name'])} ({', '.join(columns)}) "
        f"ENGINE = MergeTree{parts} ORDER BY ({by})"
        f"{' SETTINGS allow_nullable_key = 1' if nullable else ''} COMMENT {literal(comment)}"
    )


def _partitions(table: dict[str, Any], wanted: TableDesign) -> str:
    if not wanted.partitions:
        return ""
    column = next(item for item in table["columns"] if item["name"] == wanted.partition_by)
    ends = [literal(part.low) for part in wanted.partitions if part.low is not None]
    number = design.number(wanted, quoted(column["name"]), column_type(column), ends)
    return f" PARTITION BY {number}"


def create_tables(
    session: ClickhouseConnection,
    folder: str,
    workload: str,
    *,
    replace: bool,
    layout: Layout | None = None,
) -> None:
    """Creates the workload's tables (see the protocol).

    ClickHouse has no multi-table transactions. Each table has Dyno's mark from its creation, so an
    interruption leaves tables that are marked as Dyno's and as incomplete.
    """
    design.require(workload, layout)
    place = mark.schema_of(workload)
    tables = schema.tables(workload)
    present = relations(session, place)
    gone = mark.to_replace(f"{folder}, database {place},", workload, present, replace=replace)
    comment = mark.write(workload, None)
    for statement in [
        f"CREATE DATABASE IF NOT EXISTS {quoted(place)}",
        *(f"DROP TABLE {quoted(place, name)} SYNC" for name in gone),
        *(create_table(place, table, comment, layout) for table in tables),
    ]:
        session.execute(statement)


def set_mark(session: ClickhouseConnection, workload: str, state: Loaded) -> None:
    """Writes Dyno's mark to each of the workload's tables."""
    place, comment = mark.schema_of(workload), literal(mark.write(workload, state))
    for name in schema.table_names(workload):
        session.execute(f"ALTER TABLE {quoted(place, name)} MODIFY COMMENT {comment}")


def loaded(session: ClickhouseConnection, workload: str) -> Loaded | None:
    """Reads Dyno's mark from the workload's tables."""
    return mark.read(relations(session, mark.schema_of(workload)), workload)


def relations(session: ClickhouseConnection, place: str) -> dict[str, str | None]:
    """All relations of a database, with their comments."""
    found = session.execute(
        f"SELECT name, comment FROM system.tables WHERE database = {literal(place)}"  # noqa: S608
    ).rows
    return {str(name): comment for name, comment in found}
