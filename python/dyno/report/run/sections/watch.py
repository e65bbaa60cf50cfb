"""The busiest hour of a recording: its volumes and waits."""

from __future__ import annotations

from typing import Any

from dyno.bundle import metrics
from dyno.bundle.inside import Inside
from dyno.bundle.model import Phase
from dyno.bundle.phases.watch import WatchDetail
from dyno.report.kit.blocks import Block, Cell, Column, Section, Table, without_empty
from dyno.report.kit.formats import bytes_text, fixed, rounded, seconds
from dyno.report.run import watched
from dyno.report.run.page import Page

ORDER = 15

_OF_DEVICE = {
    "read_mbps": "Read MB/s",
    "write_mbps": "Write MB/s",
    "read_await": "Read, ms",
    "write_await": "Write, ms",
    "queue_length": "Queue",
    "utilisation": "Utilisation, %",
}


def section(page: Page) -> Section | None:
    """What the recorded system did in its busiest hour."""
    blocks: list[Block] = []
    for phase in watched.recordings(page):
        made = (_hours(page, phase), _volumes(page, phase), _inside(page, phase))
        blocks += [table for table in made if table.rows]
    return Section("watch", "Busiest hour", blocks) if blocks else None


def _hours(page: Page, phase: Phase[WatchDetail]) -> Table:
    columns = [Column("By"), Column("Hour")]
    columns += [Column(label, numeric=True) for label in ("Mean", "Whole recording", "Ratio")]
    rows: list[list[str | Cell]] = []
    for hour in watched.hours(page, phase):
        ratio = hour.mean / hour.whole_mean if hour.whole_mean else None
        means = (rounded(hour.mean), rounded(hour.whole_mean), rounded(ratio))
        rows.append([watched.TITLES[hour.load], hour.words, *means])
    at = metrics.Watch(phase.name)
    gaps, lost = page.value(at.gaps), page.value(at.gap_s)
    note = f"Recorded: {seconds(phase.seconds)}. The tables below show the first of these hours."
    if gaps:
        longest = seconds(page.value(at.longest_gap_s))
        note += f" Without readings of the database: {seconds(lost)}; longest gap {longest}."
    return Table("Busiest hours", columns, rows, note)


def _volumes(page: Page, phase: Phase[WatchDetail]) -> Table:
    labels = ("IOPS", "Reads, %", "Read size", "Write size", *_OF_DEVICE.values())
    columns = [Column("Device"), Column("Role"), *(Column(one, numeric=True) for one in labels)]
    at = watched.there(page, phase)
    rows: list[list[str | Cell]] = []
    for name, roles in watched.devices(page, phase).items():

        def mean(metric: Any, name: str = name) -> float | None:
            return page.value(at.device(name, metric).mean)

        reads, writes = mean("read_iops"), mean("write_iops")
        if reads is None and writes is None:
            continue
        rows.append([
            name,
            ", ".join(roles) or "–",
            rounded((reads or 0.0) + (writes or 0.0)),
            fixed(watched.read_percent(reads, writes), 0),
            _size(mean("read_mbps"), reads),
            _size(mean("write_mbps"), writes),
            *(rounded(mean(metric)) for metric in _OF_DEVICE),
        ])  # fmt: skip
    note = "Latencies are means over requests. Sizes are means of a request."
    return Table("Volumes", *without_empty(columns, rows), note)


def _size(mbps: float | None, iops: float | None) -> str:
    return "–" if mbps is None or not iops else bytes_text(1e6 * mbps / iops)


def _inside(page: Page, phase: Phase[WatchDetail]) -> Table:
    """Active sessions by wait class, with the hit ratio."""
    found = watched.waits(page, phase)
    whole = sum(found.values())
    rows: list[list[str | Cell]] = [
        [name, fixed(value, 2), fixed(100 * value / whole if whole else None, 0)]
        for name, value in found.items()
    ]
    hits = watched.inside(page, phase, Inside.hit_ratio)
    note = f"Together {whole:.2f}." + ("" if hits is None else f" Cache hit ratio: {hits:.1f} %.")
    columns = [Column("State"), Column("Sessions", numeric=True), Column("Share, %", numeric=True)]
    return Table("Average active sessions", columns, rows, note)
