"""Loads rows with multi-row INSERT statements, for targets without a faster way."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, datetime
from typing import Any

from dyno.contracts.target import Connection

ROWS_A_STATEMENT = 250


def insert_values(
    connection: Connection,
    rows: Mapping[str, Any],
    quoted: Callable[[str], str],
    at_once: int = ROWS_A_STATEMENT,
) -> int:
    """Inserts the rows of Arrow streams, by table; returns the number of rows.

    Args:
        connection: A session with an open transaction, in the workload's schema.
        rows: Streams (``__arrow_c_stream__``) by table.
        quoted: Converts a text to a constant.
        at_once: Rows per statement.
    """
    import pyarrow as pa

    total = 0
    for table, stream in rows.items():
        for batch in pa.RecordBatchReader.from_stream(stream):
            columns = [column.to_pylist() for column in batch.columns]
            lines = [
                f"({', '.join(_constant(value, quoted) for value in row)})"
                for row in zip(*columns, strict=True)
            ]
            for first in range(0, len(lines), at_once):
                values = ", ".join(lines[first : first + at_once])
                connection.execute(f"INSERT INTO {table} VALUES {values}")  # noqa: S608  (quoted)
            total += len(lines)
    return total


def _constant(value: Any, quoted: Callable[[str], str]) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, (str, date, datetime)):
        return quoted(str(value))
    return str(value)
