"""What a run recorded of the columns of a database: a table of its bundle, one row a column."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, replace
from typing import Any

from dyno.contracts.stored_columns import StoredColumn
from dyno.decide.advise.columnstore.view import ColumnView, TableColumns

Row = dict[str, Any]
_OF_TABLE = ("bytes", "rows", "of_rows", "changed")
_OF_COLUMN = tuple(field.name for field in fields(StoredColumn))


def rows_of(view: ColumnView) -> Iterator[Row]:
    """The rows of a view, without time and target."""
    for table in view.tables:
        of_table: Row = {
            "needs": view.needs,
            "counted_s": view.counted_s,
            "relation": table.name,
            "problem": table.problem or None,
            **{name: getattr(table, name) for name in _OF_TABLE},
        }
        for column in table.columns:
            yield of_table | {name: getattr(column, name) for name in _OF_COLUMN}
        if not table.columns:
            yield of_table


def view_of(rows: Iterable[Row], sql: str, engine: str, sampled_by: str) -> ColumnView | None:
    """The view of a target from its rows, the newest of each table; None without any."""
    by_table: defaultdict[str, list[Row]] = defaultdict(list)
    for row in rows:
        if row["relation"] is not None and row["t_ns"] is not None:
            by_table[row["relation"]].append(row)
    newest = [_newest(own) for own in by_table.values()]
    if not newest:
        return None
    last = max((own[0] for own in newest), key=lambda row: row["t_ns"])
    tables = [_table(own) for own in newest]
    return ColumnView(
        last["needs"] or "", sql, engine, tables, last["counted_s"], sampled_by=sampled_by
    )


def _newest(rows: Sequence[Row]) -> list[Row]:
    at = max(row["t_ns"] for row in rows)
    return [row for row in rows if row["t_ns"] == at]


def _table(rows: Sequence[Row]) -> TableColumns:
    first = rows[0]
    found = TableColumns(
        first["relation"],
        **{name: first[name] for name in _OF_TABLE},
        columns=tuple(_column(row) for row in rows if row["name"] is not None),
    )
    return replace(found, problem=first["problem"] or "no statistics of its columns")


def _column(row: Row) -> StoredColumn:
    known = {name: row[name] for name in _OF_COLUMN if row[name] is not None}
    own: Row = {"type": "", **known}
    return StoredColumn(**own)
