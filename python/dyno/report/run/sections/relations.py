"""Tables and indexes by reads: where a database reads most."""

from __future__ import annotations

from dyno.report.kit.blocks import Block, Cell, Column, Heading, Section, Table, without_empty
from dyno.report.kit.formats import decimal_bytes, rounded
from dyno.report.run.page import Page
from dyno.report.run.uses import Row, by_table, share, summed, total

ORDER = 66

_MOST = 15
_NOTE = (
    "Of the measured phases, including warm-ups. Reads are pages (rows, or "
    "scans and lookups, if the database counts only these); logical: looked up in the cache, "
    "physical: not found there."
)


def section(page: Page) -> Section | None:
    """Tables with their indexes, then every table and index."""
    blocks: list[Block] = []
    leads: list[str] = []
    found = summed(page, "relations", "relation")
    for target, rows in found.items():
        by = "physical_reads" if total(rows, "physical_reads") > 0 else "logical_reads"
        if total(rows, by) <= 0 and total(rows, "writes") <= 0:
            continue
        if len(found) > 1:
            blocks.append(Heading(page.title(target)))
        tables = by_table(rows)
        leads += _lead(page, target, tables, by)
        blocks.append(_listed(tables, by, "Tables with their indexes"))
        named = "Tables and indexes"
        blocks.append(_listed(rows, by, named, folded=True))
    if not blocks:
        return None
    return Section("relations", "Tables and indexes by reads", blocks, " ".join(leads))


def _lead(page: Page, target: str, tables: list[Row], by: str) -> list[str]:
    """``stock has 70 % of the physical reads of PostgreSQL.``"""
    whole = total(tables, by)
    if whole <= 0:
        return []
    first = max(tables, key=lambda row: row[by] or 0)
    part = 100 * (first[by] or 0) / whole
    return [
        f"{first['relation']} with its indexes has {part:.0f} % of the {by.replace('_', ' ')} of "
        f"{page.title(target)}."
    ]


def _listed(rows: list[Row], by: str, caption: str, *, folded: bool = False) -> Table:
    labels = (
        *("Physical reads", "Share, %", "Logical reads", "Share, % ", "Hit ratio, %"),
        *("Writes, rows", "Read, s", "Size"),
    )
    columns = [Column("Relation"), Column("Kind")]
    columns += [Column(label.strip(), numeric=True) for label in labels]
    physical, logical = total(rows, "physical_reads"), total(rows, "logical_reads")
    order = sorted(
        rows, key=lambda row: (-(row[by] or 0), -(row["logical_reads"] or 0), row["relation"])
    )
    cells: list[list[str | Cell]] = []
    for row in order[:_MOST]:
        looked, missed = row["logical_reads"], row["physical_reads"]
        hits = 100 * (1 - missed / looked) if looked and missed is not None else None
        cells.append(
            [
                str(row["relation"]),
                str(row["kind"] or "–"),
                rounded(missed),
                share(missed, physical),
                rounded(looked),
                share(looked, logical),
                rounded(hits),
                rounded(row["writes"]),
                rounded(None if row["read_ms"] is None else row["read_ms"] / 1000),
                decimal_bytes(row["bytes"]),
            ]
        )
    left = len(order) - _MOST
    note = f"{_NOTE} {left} more are not listed." if left > 0 else _NOTE
    columns, cells = without_empty(columns, cells)
    return Table(caption, columns, cells, note, folded=folded)
