"""Statements and relations of a database, summed over the periods of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

Row = dict[str, Any]
"""A row of ``statements`` or ``relations``; unknown values are None."""

_LEAST, _MOST = ("min_ms",), ("max_ms", "bytes")
"""Columns of which the least or the most counts, instead of the sum."""


def summed(rows: Iterable[Row], key: str) -> dict[str, list[Row]]:
    """Rows of a table by target, one for each ``key``.

    Counts are summed over all periods; unknown ones stay None.
    """
    found: dict[str, dict[str, Row]] = {}
    for row in rows:
        target, name = row["target"], row[key]
        if target is None or name is None:
            continue
        own = found.setdefault(target, {})
        own[name] = _added(own[name], row) if name in own else row
    return {target: list(rows.values()) for target, rows in found.items()}


def _added(one: Row, other: Row) -> Row:
    found: Row = {}
    for column, value in one.items():
        more = other[column]
        if value is None or more is None:
            found[column] = more if value is None else value
        elif isinstance(value, str) or column in ("t_ns", "end_ns"):
            found[column] = more
        else:
            found[column] = _joins(column)(value, more)
    return found


def _joins(column: str) -> Callable[[Any, Any], Any]:
    if column in _LEAST:
        return min
    return max if column in _MOST else lambda one, other: one + other


def by_table(rows: Iterable[Row]) -> list[Row]:
    """Tables with the counts of their partitions and indexes; writes are those of the rows."""
    found: dict[str, Row] = {}
    for row in rows:
        name = row["of_table"] or row["relation"]
        one = found.setdefault(name, {**dict.fromkeys(row), "relation": name, "kind": "table"})
        columns = ["logical_reads", "physical_reads", "read_ms", "bytes"]
        columns += ["writes"] if row["kind"] == "table" else []
        for column in columns:
            if row[column] is not None:
                one[column] = (one[column] or 0) + row[column]
    return list(found.values())


def total(rows: Iterable[Row], column: str) -> float:
    """The sum of a column."""
    return float(sum(row[column] or 0 for row in rows))
