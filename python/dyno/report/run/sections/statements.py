"""The statements that took most time, read most pages, or wrote most temporary data."""

from __future__ import annotations

from dyno.report.kit.blocks import (
    NOTHING,
    Block,
    Cell,
    Column,
    Heading,
    Section,
    Table,
    Text,
    without_empty,
)
from dyno.report.kit.formats import decimal_bytes, rounded
from dyno.report.run.page import Page
from dyno.report.run.uses import Row, share, summed, total
from dyno.safety.redaction import secretless

ORDER = 65

_MOST = 10
_ORDERS = {"total_ms": "time", "logical_reads": "logical reads", "temp_bytes": "temporary data"}
_SHORT = 200
_NOTE = (
    "Of the measured phases, including warm-ups. Share: of all recorded statements. Reads are "
    "pages; logical: looked up in the cache, physical: not found there. Min. and max. may be of a "
    "longer time, where the database cannot reset them."
)


def section(page: Page) -> Section | None:
    """A table for each order and database, then the plans."""
    blocks: list[Block] = []
    found = summed(page, "statements", "statement")
    for target, rows in found.items():
        if len(found) > 1:
            blocks.append(Heading(page.title(target)))
        blocks += [
            _table(rows, column, folded=place > 0)
            for place, column in enumerate(_ORDERS)
            if total(rows, column) > 0
        ]
        listed = {row["statement"]: row for column in _ORDERS for row in _top(rows, column)}
        blocks += [
            Text(f"Plan of {_text(row)[:80]}", secretless(str(row["plan"])))
            for row in listed.values()
            if row["plan"]
        ]
    return Section("statements", "Top statements", blocks) if blocks else None


def _top(rows: list[Row], column: str) -> list[Row]:
    known = [row for row in rows if row[column]]
    return sorted(known, key=lambda row: (-row[column], row["statement"]))[:_MOST]


def _text(row: Row) -> str:
    text = " ".join(secretless(str(row["text"] or row["statement"])).split())
    return text if len(text) <= _SHORT else f"{text[:_SHORT].rstrip()}…"


def _table(rows: list[Row], column: str, *, folded: bool) -> Table:
    labels = (
        *("Share, %", "Calls", "Total, s", "Mean, ms", "Min. to max., ms", "Rows"),
        *("Logical reads", "Physical reads", "Temp. data"),
    )
    columns = [Column("Statement", wide=True), *(Column(label, numeric=True) for label in labels)]
    whole = total(rows, column)
    cells: list[list[str | Cell]] = []
    for row in _top(rows, column):
        calls, total_ms = row["calls"] or 0, row["total_ms"]
        known = total_ms is not None
        least, most = row["min_ms"], row["max_ms"]
        cells.append(
            [
                _text(row),
                share(row[column], whole),
                rounded(calls),
                rounded(total_ms / 1000 if known else None),
                rounded(total_ms / calls if known and calls else None),
                NOTHING if least is most is None else f"{rounded(least)} to {rounded(most)}",
                *(rounded(row[name]) for name in ("rows", "logical_reads", "physical_reads")),
                decimal_bytes(row["temp_bytes"]) if row["temp_bytes"] else "–",
            ]
        )
    columns, cells = without_empty(columns, cells)
    return Table(f"Statements by {_ORDERS[column]}", columns, cells, _NOTE, folded=folded)
