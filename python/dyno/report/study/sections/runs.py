"""All runs, with links to their reports."""

from __future__ import annotations

from dyno.report.kit.blocks import (
    NOTHING,
    Cell,
    Column,
    Section,
    Table,
    Tone,
    without_empty,
)
from dyno.report.kit.formats import clock, rounded, seconds
from dyno.report.study.formats import title
from dyno.report.study.page import StudyPage
from dyno.report.study.sections.against import reasons
from dyno.studies.store import Entry
from dyno.studies.text import DISTURBED

ORDER = 90

_MOST_ROWS, _MOST_METRICS = 30, 6
_LOOKS: dict[str, tuple[str, Tone]] = {
    "valid": ("✓", "good"),
    "disturbed": ("≈", "muted"),
    "invalid": ("✗", "bad"),
}
_NO_BREAK = "\N{NO-BREAK SPACE}"


def section(page: StudyPage) -> Section | None:
    """A row per run, in order, with its verdict and reasons."""
    if not page.entries:
        return None
    names = page.metric_names[:_MOST_METRICS]
    columns = [
        Column("Run"),
        Column("Variant"),
        Column("Pair", numeric=True),
        Column("Attempt", numeric=True),
        *(Column(title(name), numeric=True) for name in names),
        Column("Verdict"),
        Column("Started"),
        Column("Duration", numeric=True),
        Column("Report"),
        Column("", wide=True),
    ]
    rows = [_row(page, at, entry, names) for at, entry in enumerate(page.entries, 1)]
    kept, shown = without_empty(columns, rows)
    folded = len(rows) > _MOST_ROWS
    invalid = sum(not entry.counts for entry in page.entries)
    disturbed = sum(entry.disturbed for entry in page.entries)
    many = [f"{disturbed} disturbed"] if disturbed else []
    many += [f"{invalid} invalid"] if invalid else []
    lead = f"{len(rows)} runs, {', '.join(many)}. " if many else ""
    lead += f"{DISTURBED} Invalid runs never count." if disturbed else ""
    note = "Each run has its own bundle and report."
    table = Table("Runs in order", kept, shown, note, page.notice, folded=folded)
    return Section("runs", "All runs", [table], lead.rstrip())


def _row(page: StudyPage, at: int, entry: Entry, names: list[str]) -> list[str | Cell]:
    report = page.report_link(entry)
    return [
        str(at),
        entry.variant,
        str(entry.pair + 1),
        str(entry.attempt) if entry.attempt > 1 else NOTHING,
        *(rounded(entry.figures.get(name)) for name in names),
        _verdict(entry),
        clock(int(entry.started * 1e9)),
        seconds(max(0.0, entry.ended - entry.started)),
        Cell("report", link=report) if report else NOTHING,
        reasons(entry),
    ]


def _verdict(entry: Entry) -> Cell:
    shape, tone = _LOOKS[entry.verdict]
    text = f"{shape}{_NO_BREAK}{entry.verdict}"
    if entry.counts and entry.broken:
        return Cell(f"{text}, criterion failed", "bad")
    return Cell(text, tone)
