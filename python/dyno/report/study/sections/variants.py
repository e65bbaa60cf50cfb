"""The differences between the variants, and their common settings."""

from __future__ import annotations

from dyno.report.kit.blocks import Block, Cell, Column, Fact, Facts, Heading, Section, Table
from dyno.report.study.page import StudyPage
from dyno.studies import differences

ORDER = 80

_MOST_ROWS = 24


def section(page: StudyPage) -> Section | None:
    """A row per variant, a column per differing path."""
    paths = differences.differing(page.study)
    rows: list[list[str | Cell]] = [list(row) for row in differences.rows(page.study)]
    blocks: list[Block] = []
    if paths:
        columns = [Column("Variant"), *(Column(path) for path in paths)]
        folded = len(rows) > _MOST_ROWS
        blocks.append(Table("Differences", columns, rows, folded=folded))
    common = differences.common(page.study)
    if common:
        if paths:
            blocks.append(Heading("Common settings"))
        blocks.append(Facts([Fact(path, value) for path, value in common.items()]))
    lead = "" if paths else "The variants are identical (A/A test): any difference is noise."
    return Section("variants", "Variants", blocks, lead)
