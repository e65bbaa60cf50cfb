"""What speaks against the answer: variants that cannot win, criteria, noise."""

from __future__ import annotations

from collections import Counter

from dyno.report.kit.blocks import Block, Cell, Column, Fact, Facts, Section, Table
from dyno.report.kit.formats import figure
from dyno.report.study.formats import title
from dyno.report.study.page import StudyPage
from dyno.studies.spread import spreads
from dyno.studies.store import Entry

ORDER = 60

_MOST_ROWS = 24


def section(page: StudyPage) -> Section | None:
    """Each part where the study has it."""
    blocks: list[Block] = [*_disqualified(page), *_criteria(page), *_left_out(page), *_noise(page)]
    lead = "" if page.outcome.disqualified else "No variant is disqualified."
    return Section("against", "What speaks against it", blocks, lead) if blocks or lead else None


def _disqualified(page: StudyPage) -> list[Block]:
    rows: list[list[str | Cell]] = [
        [name, Cell("✗ cannot win", "bad"), why] for name, why in page.outcome.disqualified.items()
    ]
    columns = [Column("Variant"), Column(""), Column("Why", wide=True)]
    note = "Wrong answers, failed consistency, broken criteria, or no valid run."
    return [Table("Variants that cannot win", columns, rows, note)] if rows else []


def _criteria(page: StudyPage) -> list[Block]:
    """How many runs of each variant broke which criterion; the study's own are all named."""
    broken = Counter((text, entry.variant) for entry in page.entries for text in entry.broken)
    rows: list[list[str | Cell]] = [
        [text, Cell(variant, "bad"), str(count), str(_counted(page, variant))]
        for (text, variant), count in broken.items()
    ]
    criteria = page.study.criteria
    blocks: list[Block] = []
    if criteria:
        kept = "" if rows else " (kept by every run)"
        blocks.append(Facts([Fact("Criteria of the study", f"{'; '.join(criteria)}{kept}")]))
    if rows:
        columns = [Column("Criterion"), Column("Broken by"), Column("Runs", numeric=True)]
        columns.append(Column("of those that count", numeric=True))
        blocks.append(Table("Criteria that were not kept", columns, rows))
    return blocks


def _counted(page: StudyPage, variant: str) -> int:
    return sum(entry.counts for entry in page.entries if entry.variant == variant)


def _left_out(page: StudyPage) -> list[Block]:
    dropped = page.outcome.dropped
    if not dropped:
        return []
    rows: list[list[str | Cell]] = [[name, why] for name, why in dropped.items()]
    columns = [Column("Variant"), Column("Its last run", wide=True)]
    return [Table("Left out of the rest, for its runs came to nothing", columns, rows)]


def _noise(page: StudyPage) -> list[Block]:
    """The spread of each variant's runs."""
    blocks: list[Block] = []
    found = [
        [one.variant, title(one.metric), str(one.runs), f"{figure(one.percent)} %"]
        for one in spreads(page.study, page.entries)
    ]
    if found:
        columns = [Column("Variant"), Column("Figure"), Column("Runs", numeric=True)]
        columns.append(Column("Standard deviation", numeric=True))
        note = "From run to run of one variant, drift included; pairs are free of most of that."
        folded = len(found) > _MOST_ROWS
        blocks.append(Table("Noise", columns, found, note, page.notice, folded=folded))
    return blocks


def reasons(entry: Entry) -> str:
    """Why a run is not valid, and which criteria it broke."""
    return "; ".join([*([] if entry.valid else [entry.why_not]), *entry.broken])
