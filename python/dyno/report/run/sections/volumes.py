"""The volumes of the databases and of storage profiles, by device and role."""

from __future__ import annotations

from dyno.bundle.carriers import by_device, of_target, told_apart
from dyno.bundle.metrics.resource import DeviceMetric
from dyno.bundle.model import Phase
from dyno.bundle.observed import Series
from dyno.bundle.series import of_device
from dyno.report.kit.blocks import (
    NOTHING,
    Block,
    Cell,
    Column,
    Figure,
    Note,
    Notes,
    Section,
    Table,
)
from dyno.report.kit.charts import multiples as charts
from dyno.report.kit.charts import theme
from dyno.report.kit.charts.keys import keys
from dyno.report.kit.charts.render import Size, render
from dyno.report.kit.formats import rounded
from dyno.report.run import courses, volume_map, volumes
from dyno.report.run.devices import role_name
from dyno.report.run.page import Page

ORDER = 62

_MOST_ROWS, _MOST_DRAWN = 12, 4
"""Devices of a phase in the table, and of the run in the figure."""
_MOST_OPEN = 40
"""A table with more rows is folded."""

_COLUMNS: tuple[tuple[str, DeviceMetric, float], ...] = (
    ("Read IOPS", "read_iops", 1),
    ("Write IOPS", "write_iops", 1),
    ("Read MB/s", "read_mbps", 1),
    ("Write MB/s", "write_mbps", 1),
    ("Reads, %", "read_share", 1),
    ("Read KiB", "read_size", 1 / 1024),
    ("Write KiB", "write_size", 1 / 1024),
    ("Read ms", "read_await", 1),
    ("Write ms", "write_await", 1),
    ("Queue", "queue_length", 1),
    ("Busy, %", "utilisation", 1),
)
_PANELS: tuple[tuple[str, tuple[tuple[str, DeviceMetric], ...]], ...] = (
    ("latency, ms", (("read", "read_await"), ("write", "write_await"))),
    ("IOPS", (("read", "read_iops"), ("write", "write_iops"))),
    ("MB/s", (("read", "read_mbps"), ("write", "write_mbps"))),
    ("queue", (("queue", "queue_length"),)),
)
_COLOURS = {"read": theme.BLUE, "write": theme.ORANGE, "queue": theme.INK}
_NOTE = (
    "Means; load levels exclude the warm-up. KiB and ms are means over requests; ms: from queueing "
    "to completion. Busy: share of time with a request in flight; a device with parallelism may "
    "not be saturated at 100 %. Fill: of the fullest file system with these files."
)


def section(page: Page) -> Section | None:
    """A figure over time, a row for each phase and device, and where the files are."""
    table, places = _table(page), volume_map.table(page)
    if table is None:
        return None
    found = (_figure(page), table, places)
    blocks: list[Block] = [block for block in found if block is not None]
    notes = _shared(page)
    if notes:
        blocks.append(Notes([Note(text, "muted") for text in notes]))
    return Section("volumes", "Volumes", blocks)


def devices(page: Page) -> dict[str, tuple[str, ...]]:
    """The devices of all phases, each with its roles."""
    found: dict[str, tuple[str, ...]] = {}
    for phase in page.phases(*volumes.PHASES):
        for name, roles in by_device(page.run, phase).items():
            found[name] = tuple(dict.fromkeys([*found.get(name, ()), *roles]))
    return found


def _busy(page: Page, phase: Phase, device: str) -> float:
    at = page.resources(phase)
    return sum(
        page.value(at.device(device, metric).mean) or 0.0 for metric in ("read_iops", "write_iops")
    )


def _figure(page: Page) -> Figure | None:
    known = devices(page)
    phases = page.phases(*volumes.PHASES)
    work = {name: sum(_busy(page, phase, name) for phase in phases) for name in known}
    panels: list[charts.Panel] = []
    drawn = sorted(sorted(known, key=lambda name: -work[name])[:_MOST_DRAWN], key=[*known].index)
    for name in drawn:
        for title, lines in _PANELS:
            points = [
                point
                for side, metric in lines
                for point in courses.points(page, side, _of(page, name, metric))
            ]
            if points:
                sides = [side for side, _ in lines]
                panels.append(charts.Panel(f"{name}, {title}", points, series=sides))
    if not panels:
        return None
    named = ", ".join(f"{name}{_roles(known[name], ' ({})')}" for name in drawn)
    alt = f"Latency, IOPS, MB/s and queue over time of {named}. The table has the means by phase."
    quieter = len(known) - len(drawn)
    left = f" {quieter} quieter devices are not drawn." if quieter else ""
    count = len(_PANELS)
    span = courses.span(page)
    return Figure(
        render(
            lambda width: charts.multiples(panels, _COLOURS, span, count, width), Size(985), alt
        ),
        f"{named}: latency (mean over requests), IOPS, MB/s and queue over time.{left}",
        keys(["read", "write"], shapes=False),
    )


def _of(page: Page, device: str, metric: str) -> Series | None:
    machines = dict.fromkeys(facts.machine for facts in page.run.targets.values()) or [""]
    found = (of_device(page.series, device, metric, machine) for machine in machines)
    return next((one for one in found if one is not None), None)


def _roles(roles: tuple[str, ...], form: str = "{}") -> str:
    return form.format(", ".join(map(role_name, roles))) if roles else ""


def _table(page: Page) -> Table | None:
    phases = volumes.observed(page)
    if not phases:
        return None
    labels = [label for label, _, _ in _COLUMNS]
    columns = [Column("Phase"), Column("Device"), Column("Role")]
    columns += [Column(label, numeric=True) for label in (*labels, "Fill, %")]
    rows: list[list[str | Cell]] = []
    left = 0
    for phase in phases:
        found = by_device(page.run, phase)
        busiest = sorted(found, key=lambda name: -_busy(page, phase, name))[:_MOST_ROWS]
        left = max(left, len(found) - len(busiest))
        listed = [name for name in found if name in busiest] or [""]
        rows += [_row(page, phase, device, found.get(device, ())) for device in listed]
    note = f"{_NOTE} {left} quieter devices are not listed." if left else _NOTE
    return Table("Volumes by phase", columns, rows, note, folded=len(rows) > _MOST_OPEN)


def _row(page: Page, phase: Phase, device: str, roles: tuple[str, ...]) -> list[str | Cell]:
    at = page.resources(phase)
    means = [
        rounded(None if value is None else value * factor)
        for _, metric, factor in _COLUMNS
        for value in [page.value(at.device(device, metric).mean)]
    ]
    shown: str | Cell = device or Cell("unknown", "muted")
    named = ", ".join(role.replace("-", " ") for role in roles) or NOTHING
    return [phase.title, shown, named, *means, rounded(volumes.fill(page, phase, roles))]


def _shared(page: Page) -> list[str]:
    """Which roles the devices cannot tell apart."""
    notes: list[str] = []
    for target in page.run.targets:
        every, apart = of_target(page.run, target), told_apart(page.run, target)
        hidden = [role_name(role) for role in every if role not in apart]
        if hidden:
            notes.append(
                f"{page.title(target)}: I/O of {' and '.join(hidden)} cannot be separated from "
                "that of the other files on the same device."
            )
    return notes
