"""Statements and relations of a database, for the page of a run."""

from __future__ import annotations

from dyno.bundle import uses
from dyno.bundle.uses import Row, by_table, total
from dyno.report.run.page import Page

__all__ = ["Row", "by_table", "share", "summed", "total"]


def summed(page: Page, table: str, key: str) -> dict[str, list[Row]]:
    """Rows of ``statements`` or ``relations`` by target, one for each ``key``."""
    return uses.summed(page.bundle.table(table).to_pylist(), key)


def share(value: float | None, total: float) -> str:
    """A share in %, or a dash."""
    return "–" if value is None or total <= 0 else f"{100 * value / total:.1f}"
