"""How fresh the data of queries was beside transactions."""

from __future__ import annotations

from dyno.bundle import metrics
from dyno.report.kit.blocks import Cell, Column, Section, Table
from dyno.report.kit.formats import rounded
from dyno.report.run.freshness import targets
from dyno.report.run.page import Page

ORDER = 47


def section(page: Page) -> Section | None:
    """A table by target; None if no transactions ran beside queries."""
    found = targets(page)
    if not found:
        return None
    columns = [
        Column("Target"),
        Column("Freshness, ms", numeric=True),
        Column("Newest transaction seen, ms old", numeric=True),
    ]
    rows: list[list[str | Cell]] = []
    for target in found:
        at = metrics.Queries(target)
        rows.append(
            [
                page.title(target),
                rounded(page.value(at.freshness_ms)),
                rounded(page.value(at.newest_age_ms)),
            ]
        )
    note = (
        "Freshness: age, at a query's start, of the oldest committed transaction that the query "
        "did not see, counted from the begin of that transaction; maximum of all queries. "
        "0: every query saw all of them. Newest transaction seen: its age, median of all queries."
    )
    table = Table("Freshness", columns, rows, note, page.query_notice)
    lead = "Transactions changed the data while queries ran."
    return Section("freshness", "Freshness of the queried data", [table], lead)
