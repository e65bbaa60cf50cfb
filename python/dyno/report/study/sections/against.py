"""Caveats: disqualified variants, failed criteria, noise."""

from __future__ import annotations

from collections import Counter

from dyno.report.kit.blocks import Block, Cell, Column, Fact, Facts, Section, Table
from dyno.report.kit.formats import rounded
from dyno.report.study.formats import title
from dyno.report.study.page import StudyPage
from dyno.studies.spread import spreads
from dyno.studies.store import Entry

ORDER = 60

_MOST_ROWS = 24


def section(page: StudyPage) -> Section | None:
    """The caveats of the study."""
    blocks: list[Block] = [*_disqualified(page), *_criteria(page), *_left_out(page), *_noise(page)]
    lead = "" if page.outcome.disqualified else "No variant is disqualified."
    return Section("against", "Caveats", blocks, lead) if blocks or lead else None


def _disqualified(page: StudyPage) -> list[Block]:
    rows: list[list[str | Cell]] = [
        [name, Cell("✗ disqualified", "bad"), why]
        for name, why in page.outcome.disqualified.items()
    ]
    columns = [Column("Variant"), Column(""), Column("Why", wide=True)]
    note = "Wrong answers, failed consistency checks, failed criteria, or no valid run."
    return [Table("Disqualified variants", columns, rows, note)] if rows else []


def _criteria(page: StudyPage) -> list[Block]:
    """The runs of each variant that failed a criterion, and the study's criteria."""
    broken = Counter((text, entry.variant) for entry in page.entries for text in entry.broken)
    rows: list[list[str | Cell]] = [
        [text, Cell(variant, "bad"), str(count), str(_counted(page, variant))]
        for (text, variant), count in broken.items()
    ]
    criteria = page.study.criteria
    blocks: list[Block] = []
    if criteria:
        kept = "" if rows else " (all runs pass)"
        blocks.append(Facts([Fact("Study criteria", f"{'; '.join(criteria)}{kept}")]))
    if rows:
        columns = [Column("Criterion"), Column("Variant"), Column("Failed runs", numeric=True)]
        columns.append(Column("Counted runs", numeric=True))
        blocks.append(Table("Failed criteria", columns, rows))
    return blocks


def _counted(page: StudyPage, variant: str) -> int:
    return sum(entry.counts for entry in page.entries if entry.variant == variant)


def _left_out(page: StudyPage) -> list[Block]:
    dropped = page.outcome.dropped
    if not dropped:
        return []
    rows: list[list[str | Cell]] = [[name, why] for name, why in dropped.items()]
    columns = [Column("Variant"), Column("Last run", wide=True)]
    return [Table("Variants dropped after failed runs", columns, rows)]


def _noise(page: StudyPage) -> list[Block]:
    """The spread of each variant's runs."""
    blocks: list[Block] = []
    found = [
        [one.variant, title(one.metric), str(one.runs), f"{rounded(one.percent)} %"]
        for one in spreads(page.study, page.entries)
    ]
    if found:
        columns = [Column("Variant"), Column("Metric"), Column("Runs", numeric=True)]
        columns.append(Column("Standard deviation", numeric=True))
        note = "Between runs of one variant, including drift; pairing removes most of the drift."
        folded = len(found) > _MOST_ROWS
        blocks.append(Table("Noise", columns, found, note, page.notice, folded=folded))
    return blocks


def reasons(entry: Entry) -> str:
    """Why a run is not valid, and which criteria it failed."""
    return "; ".join([*([] if entry.valid else [entry.why_not]), *entry.broken])
