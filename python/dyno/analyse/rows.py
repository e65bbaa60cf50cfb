"""Rows of a bundle's tables as plain Python values; damage raises a one-line error."""

from __future__ import annotations

from typing import Any

from dyno.bundle.reader import Bundle
from dyno.bundle.tables import Table, counts
from dyno.errors import UsageError

_STORAGE = (
    *("volume", "phase", "queue_depth", "seconds"),
    *("reads", "writes", "read_bytes", "write_bytes"),
)

# Required columns; the others may be null.
_REQUIRED = {
    Table.SAMPLES: (),
    Table.QUERIES: ("t_ns", "stream", "query", "target"),
    Table.DURING: ("t_ns", "part", "query", "target"),
    Table.IO: _STORAGE,
    Table.OPS: ("t_ns", "seconds", "phase", "op", "done", "rolled_back"),
}


def rows(bundle: Bundle, table: str) -> list[dict[str, Any]]:
    """Returns the rows of ``table`` in the order in which they were written.

    Raises:
        UsageError: If the table is damaged.
    """
    arrow = columns(bundle, table)
    for name in _REQUIRED[Table.of(table)]:
        if arrow.column(name).null_count:
            raise damaged(bundle, table, f"column {name} has gaps")
    return arrow.to_pylist()


def columns(bundle: Bundle, table: str) -> Any:
    """Returns the Arrow table called ``table``.

    Raises:
        UsageError: If it is damaged.
    """
    return bundle.table(table)


def damaged(bundle: Bundle, table: str, reason: str) -> UsageError:
    """The error for a table that cannot be used."""
    return bundle.damaged(table, reason)


def happened(row: dict[str, Any]) -> bool:
    """Whether a row of ``ops`` has any operation; an empty interval has a row of zeros."""
    if row["done"] or row["rolled_back"]:
        return True
    return bool(counts(row["errors"]) or counts(row["retries"]))
