"""All runs, with the way to each one's own sheet."""

from __future__ import annotations

from dyno.report.blocks import NOTHING, Cell, Column, Section, Table, without_empty
from dyno.report.study.page import StudyPage
from dyno.report.study.sections.against import reasons
from dyno.report.study.words import title
from dyno.report.words import clock, figure, seconds
from dyno.studies.book import Entry

ORDER = 90

_MOST_ROWS, _MOST_FIGURES = 30, 6
_NO_BREAK = "\N{NO-BREAK SPACE}"


def section(page: StudyPage) -> Section | None:
    """A row a run, in the order in which they were made; invalid ones with their reasons."""
    if not page.entries:
        return None
    names = page.figures[:_MOST_FIGURES]
    columns = [
        Column("Run"),
        Column("Variant"),
        Column("Pair", numeric=True),
        Column("Attempt", numeric=True),
        *(Column(title(name), numeric=True) for name in names),
        Column("Valid"),
        Column("Began"),
        Column("Took", numeric=True),
        Column("Sheet"),
        Column("", wide=True),
    ]
    rows = [_row(page, at, entry, names) for at, entry in enumerate(page.entries, 1)]
    kept, shown = without_empty(columns, rows)
    folded = len(rows) > _MOST_ROWS
    invalid = sum(not entry.valid for entry in page.entries)
    lead = f"{len(rows)} runs, {invalid} of them invalid." if invalid else ""
    note = "Each run has a bundle and a sheet of its own, from which all of this can be made again."
    table = Table("Runs in their order", kept, shown, note, page.notice, folded=folded)
    return Section("runs", "All runs", [table], lead)


def _row(page: StudyPage, at: int, entry: Entry, names: list[str]) -> list[str | Cell]:
    sheet = page.sheet(entry)
    return [
        str(at),
        entry.variant,
        str(entry.pair + 1),
        str(entry.attempt) if entry.attempt > 1 else NOTHING,
        *(figure(entry.figures.get(name)) for name in names),
        _valid(entry),
        clock(int(entry.started * 1e9)),
        seconds(max(0.0, entry.ended - entry.started)),
        Cell("sheet", link=sheet) if sheet else NOTHING,
        reasons(entry),
    ]


def _valid(entry: Entry) -> Cell:
    if not entry.valid:
        return Cell(f"✗{_NO_BREAK}invalid", "bad")
    if entry.broken:
        return Cell(f"✓{_NO_BREAK}valid, a criterion broken", "bad")
    return Cell(f"✓{_NO_BREAK}valid", "good")
