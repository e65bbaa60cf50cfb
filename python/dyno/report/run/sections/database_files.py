"""Files and waits of the databases that count them: means by phase."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.bundle import metrics
from dyno.bundle.inside import Files
from dyno.report.kit.blocks import Block, Cell, Column, Heading, Section, Table, without_empty
from dyno.report.kit.formats import bytes_text, rounded
from dyno.report.run.page import Page
from dyno.report.run.volumes import PHASES

ORDER = 65

_COLUMNS: tuple[tuple[str, Files], ...] = (
    ("Reads/s", Files.reads),
    ("Read MB/s", Files.read_mbps),
    ("Read, ms", Files.read),
    ("Writes/s", Files.writes),
    ("Write MB/s", Files.written_mbps),
    ("Write, ms", Files.write),
)
_MOST = 20
"""Rows of a phase."""


def section(page: Page) -> Section | None:
    """For each database: its roles and files, and the waits that it counted, by phase."""
    blocks: list[Block] = []
    found = {name: own for name in page.run.targets if (own := _database(page, name))}
    for name, own in found.items():
        blocks += [Heading(page.title(name)), *own] if len(found) > 1 else own
    title = "Files and waits, as the database counts them"
    return Section("database-files", title, blocks) if blocks else None


def _database(page: Page, name: str) -> list[Block]:
    return [table for table in (_files(page, name), _waits(page, name)) if table is not None]


def _phases(page: Page, target: str) -> Iterable[tuple[str, metrics.Resources]]:
    for phase in page.phases(*PHASES):
        if phase.target == target and not phase.part_of:
            yield phase.title, metrics.Resources(phase.name)


def _files(page: Page, target: str) -> Table | None:
    columns = [Column("Phase"), Column("Role"), Column("File")]
    columns += [Column(label, numeric=True) for label, _ in _COLUMNS]
    columns.append(Column("Size", numeric=True))
    rows: list[list[str | Cell]] = []
    for title, at in _phases(page, target):
        for name in at.files(target, page.known)[:_MOST]:
            role, _, file = name.partition("/")
            values = [page.value(at.file(target, name, metric).mean) for _, metric in _COLUMNS]
            size = page.value(at.file(target, name, Files.size).max)
            cells: list[str | Cell] = [title, role, file or "all", *map(rounded, values)]
            rows.append([*cells, "–" if size is None else bytes_text(size)])
    columns, rows = without_empty(columns, rows)
    note = "Means over each phase; times are means over the requests, as the server waits for them."
    return Table("Files by phase", columns, rows, note, folded=True) if rows else None


def _waits(page: Page, target: str) -> Table | None:
    columns = [Column("Phase"), Column("Class"), Column("Wait", wide=True)]
    columns.append(Column("Threads", numeric=True))
    rows: list[list[str | Cell]] = []
    for title, at in _phases(page, target):
        events = at.waits(target, page.known)
        for event in sorted(events, key=lambda one: -events[one])[:_MOST]:
            if events[event] > 0:
                known, _, name = event.partition("/")
                rows.append([title, known, name, rounded(events[event])])
    note = (
        "Mean number of threads in a wait over each phase, by the server's own counts of waits "
        "that ended; waits for work are left out."
    )
    return Table("Waits by phase", columns, rows, note, folded=True) if rows else None
