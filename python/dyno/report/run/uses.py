"""Statements and relations of a database, summed over the periods of a run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dyno.report.run.page import Page

Row = dict[str, Any]

_LEAST, _MOST = ("min_ms",), ("max_ms", "bytes")
"""Columns of which the least or the most counts, instead of the sum."""


def summed(page: Page, table: str, key: str) -> dict[str, list[Row]]:
    """Rows of ``statements`` or ``relations`` by target, one for each ``key``.

    Counts are summed over all periods; unknown ones stay None.
    """
    found: dict[str, dict[str, Row]] = {}
    for row in page.bundle.table(table).to_pylist():
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


def share(value: float | None, total: float) -> str:
    """A share in %, or a dash."""
    return "–" if value is None or total <= 0 else f"{100 * value / total:.1f}"


def total(rows: list[Row], column: str) -> float:
    """The sum of a column."""
    return float(sum(row[column] or 0 for row in rows))
