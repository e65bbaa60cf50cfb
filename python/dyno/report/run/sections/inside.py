"""What the databases report about themselves: active sessions by wait, and engine metrics."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.bundle import metrics
from dyno.bundle.inside import SESSIONS, SOURCE, WAIT_CLASSES, Inside, WaitClass
from dyno.bundle.observed import Series
from dyno.report.kit.blocks import (
    Block,
    Cell,
    Column,
    Figure,
    Heading,
    Key,
    Note,
    Notes,
    Section,
    Table,
    without_empty,
)
from dyno.report.kit.charts import multiples as charts
from dyno.report.kit.charts import theme
from dyno.report.kit.charts.render import Size, render
from dyno.report.kit.formats import bytes_text, rounded
from dyno.report.run import courses
from dyno.report.run.page import Page
from dyno.report.run.volumes import PHASES

ORDER = 64

_CLASSES: dict[WaitClass, tuple[str, str]] = {
    "cpu": ("CPU", theme.GREEN),
    "data": ("data I/O", theme.BLUE),
    "log": ("log I/O", theme.ORANGE),
    "temp": ("temporary files", theme.AMBER),
    "lock": ("locks", theme.PURPLE),
    "latch": ("latches", theme.SKY),
    "client": ("client", theme.MUTED),
    "other": ("other", theme.INK),
}
"""Title and colour of each wait class."""

_FIRST, _SECOND = theme.BLUE, theme.ORANGE
_MB = 1e-6

_PANELS: tuple[tuple[str, tuple[tuple[str, Inside, float], ...], float | None], ...] = (
    ("Cache hit ratio, %", (("first", Inside.hit_ratio, 1),), 100.0),
    (
        "Reads/s: logical, physical (dashed)",
        (("first", Inside.logical_reads, 1), ("second", Inside.physical_reads, 1)),
        None,
    ),
    ("Log, MB/s", (("first", Inside.log_mbps, 1),), None),
    (
        "Log, ms: flush, write (dashed)",
        (("first", Inside.log_flush, 1), ("second", Inside.log_write, 1)),
        None,
    ),
    ("Log, ms: wait of a commit", (("first", Inside.log_wait, 1),), None),
    ("Temporary data written, MB/s", (("first", Inside.temp_written, 1),), None),
    (
        "Temporary data, MB in use",
        (("first", Inside.temp_used, _MB),),
        None,
    ),
)
_TABLE: tuple[tuple[str, Inside], ...] = (
    ("Hit ratio, %", Inside.hit_ratio),
    ("Logical reads/s", Inside.logical_reads),
    ("Physical reads/s", Inside.physical_reads),
    ("Pages written/s", Inside.physical_writes),
    ("By checkpoints/s", Inside.checkpoint_writes),
    ("Log MB/s", Inside.log_mbps),
    ("Log flushes/s", Inside.log_flushes),
    ("Log flush, ms", Inside.log_flush),
    ("Log wait, ms", Inside.log_wait),
    ("Temp. MB/s", Inside.temp_written),
    ("Temp. files/s", Inside.temp_files),
    ("Temp. file", Inside.temp_file),
    ("Lock waits/s", Inside.lock_waits),
    ("Deadlocks/s", Inside.deadlocks),
    ("Dead rows", Inside.dead_rows),
    ("Connections", Inside.connections),
)
_MOST_WAITS = 3


def section(page: Page) -> Section | None:
    """For each database: active sessions over time, engine metrics, means by phase."""
    blocks: list[Block] = []
    found = {name: own for name in page.run.targets if (own := _database(page, name))}
    for name, own in found.items():
        blocks += [Heading(page.title(name)), *own] if len(found) > 1 else own
    notes = [
        Note(f"{page.title(name)}: {note}", "muted")
        for name, facts in page.run.targets.items()
        for note in facts.inside_notes
    ]
    if notes:
        blocks.append(Notes(notes))
    return Section("inside", "Inside the database", blocks) if blocks else None


def _database(page: Page, name: str) -> list[Block]:
    found: list[Block | None] = [
        _sessions(page, name),
        _engine(page, name),
        _waits(page, name),
        _means(page, name),
    ]
    return [block for block in found if block is not None]


def _sessions(page: Page, target: str) -> Figure | None:
    layers: dict[str, list[Series]] = {}
    for wait in WAIT_CLASSES:
        own = [
            series
            for (source, subject, metric), series in page.series.items()
            if (source, subject, metric.partition("/")[0]) == (SESSIONS, target, wait)
        ]
        if any(reading.value for series in own for reading in series.readings):
            layers[_CLASSES[wait][0]] = own
    if not layers:
        return None
    colours = dict(_CLASSES.values())
    panel = charts.Panel("Active sessions", courses.stack(page, layers), stacked=True)
    span = courses.extent(panel.points)
    alt = f"Average active sessions over time: {', '.join(layers)}. The table has the means."
    return Figure(
        render(
            lambda width: charts.multiples([panel], colours, span, 1, width, height=170),
            Size(985),
            alt,
        ),
        "Average active sessions by what they do or wait for, stacked: "
        "their sum is the number of sessions inside the database at a time.",
        tuple(Key(name, theme.KEYS["square"], theme.VARIABLES[colours[name]]) for name in layers),
    )


def _engine(page: Page, target: str) -> Figure | None:
    panels: list[charts.Panel] = []
    for title, lines, top in _PANELS:
        points = [
            point
            for name, metric, scale in lines
            for point in courses.points(
                page, name, page.series.get((SOURCE, target, metric)), scale
            )
        ]
        if any(point.value for point in points):
            panels.append(charts.Panel(title, points, top))
    if not panels:
        return None
    span = courses.extent(point for panel in panels for point in panel.points)
    colours = {"first": _FIRST, "second": _SECOND}
    titles = "; ".join(panel.title for panel in panels)
    return Figure(
        render(
            lambda width: charts.multiples(panels, colours, span, 3, width),
            Size(985),
            f"Engine metrics over time: {titles}. The table has the means by phase.",
        ),
        "Engine metrics over time, as the database counts them.",
    )


def _phases(page: Page, target: str) -> Iterable[tuple[str, metrics.Resources]]:
    for phase in page.phases(*PHASES):
        if phase.target == target and not phase.part_of:
            yield phase.title, metrics.Resources(phase.name)


def _waits(page: Page, target: str) -> Table | None:
    classes = [f"{title[:1].upper()}{title[1:]}" for title, _ in _CLASSES.values()]
    columns = [Column("Phase"), Column("Active sessions", numeric=True)]
    columns += [Column(title, numeric=True) for title in classes]
    columns.append(Column("Most frequent waits", wide=True))
    rows: list[list[str | Cell]] = []
    for title, at in _phases(page, target):
        events = at.sessions(target, page.known)
        total = sum(events.values())
        if not events:
            continue
        sums = dict.fromkeys(_CLASSES, 0.0)
        for event, value in events.items():
            name = event.partition("/")[0]
            sums["other" if name not in sums else name] += value
        waits = sorted(
            (event for event in events if not event.startswith("cpu/") and events[event] > 0),
            key=lambda event: -events[event],
        )
        words = [
            f"{event.partition('/')[2]} {100 * events[event] / total:.0f} %"
            for event in waits[:_MOST_WAITS]
        ]
        cells = [rounded(value) if value else "–" for value in sums.values()]
        rows.append([title, rounded(total), *cells, ", ".join(words)])
    columns, rows = without_empty(columns, rows)
    note = "Means over each phase, sampled several times a second. Shares are of active sessions."
    return Table("Active sessions by phase", columns, rows, note) if rows else None


def _means(page: Page, target: str) -> Table | None:
    columns = [Column("Phase"), *(Column(label, numeric=True) for label, _ in _TABLE)]
    rows: list[list[str | Cell]] = []
    for title, at in _phases(page, target):
        values = [(metric, page.value(at.inside(target, metric).mean)) for _, metric in _TABLE]
        if any(value is not None for _, value in values):
            cells = [
                bytes_text(value) if metric is Inside.temp_file else rounded(value)
                for metric, value in values
            ]
            rows.append([title, *cells])
    columns, rows = without_empty(columns, rows)
    note = "Means over each phase; the hit ratio and times per flush are means over their counts."
    return Table("Engine metrics by phase", columns, rows, note, folded=True) if rows else None
