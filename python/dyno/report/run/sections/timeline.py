"""System metrics over time, and the bottleneck of each phase."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.bundle import mixes
from dyno.bundle.model import Phase, has_detail
from dyno.bundle.phases import PhaseKind
from dyno.bundle.phases.oltp import OltpDetail
from dyno.bundle.series import Key
from dyno.report.kit.blocks import Block, Cell, Column, Figure, Section, Table
from dyno.report.kit.charts import theme
from dyno.report.kit.charts import timeline as charts
from dyno.report.kit.charts.render import Size, render
from dyno.report.kit.formats import seconds, users_title
from dyno.report.run.page import Page
from dyno.report.run.series import Series, sampled, throughput
from dyno.report.run.steps import which

ORDER = 60

_LANES: dict[PhaseKind, charts.Lane] = {
    "io": charts.Lane("Storage", theme.BLUE),
    "provision": charts.Lane("Start", theme.MUTED),
    "load": charts.Lane("Load", theme.GREEN),
    "index": charts.Lane("Index", theme.PURPLE),
    "dss": charts.Lane("Queries", theme.SKY),
    "oltp": charts.Lane("Transactions", theme.AMBER),
    "certify": charts.Lane("Intervals", theme.SKY),
    "maintenance": charts.Lane("Maintenance", theme.ORANGE),
    "search": charts.Lane("Search", theme.MUTED),
    "plans": charts.Lane("Plans", theme.MUTED),
    "check": charts.Lane("Checks", theme.MUTED),
    "watch": charts.Lane("Watch", theme.MUTED),
}
_WANTED = [("cpu", "busy"), ("cpu", "iowait"), ("memory", "available")]
_GIB = 1 << 30


def section(page: Page) -> Section | None:
    """The timeline, and the bottleneck of each phase."""
    blocks: list[Block] = []
    found = _figure(page)
    if found is not None:
        blocks.append(found)
    limits = _limits(page)
    if limits.rows:
        blocks.append(limits)
    return Section("meanwhile", "System metrics", blocks) if blocks else None


def _figure(page: Page) -> Figure | None:
    machines = [facts.machine for facts in page.run.targets.values()]
    series = sampled(page.bundle, _WANTED, next(iter(machines), ""))
    panels = [
        charts.Panel(
            "CPU, %: busy (solid), I/O wait (dashed)",
            [
                *_readings(series, ("cpu", "host", "busy"), "busy"),
                *_readings(series, ("cpu", "host", "iowait"), "I/O wait"),
            ],
            100.0,
        ),
        charts.Panel(
            "Available memory, GiB",
            _readings(series, ("memory", "host", "available"), "available", _GIB),
        ),
    ]
    done = throughput(page.bundle)
    panels.append(
        charts.Panel("Transactions/s", _points("transactions/s", done) if done.values else [])
    )
    panels = [panel for panel in panels if panel.readings]
    bands = list(_bands(page))
    if not panels or not bands:
        return None
    alt = (
        "The phases of the run as bands over time; below them CPU, available memory and "
        "throughput. The section "
        "CPU and memory has the means by phase."
    )
    lanes = list(_LANES.values())
    shown = f"CPU, memory{' and transactions' if done.values else ''}"
    return Figure(
        render(lambda width: charts.timeline(bands, lanes, panels, width), Size(970, 340), alt),
        f"Phases of the run, and {shown} over time. The shading shows the phase.",
        notice=page.transaction_notice if done.values else "",
    )


def _points(name: str, series: Series | None, unit: float = 1) -> list[charts.Reading]:
    if series is None:
        return []
    pairs = zip(series.seconds, series.values, strict=True)
    return [charts.Reading(name, second, value / unit) for second, value in pairs]


def _readings(
    series: dict[Key, Series], key: Key, name: str, unit: float = 1
) -> list[charts.Reading]:
    return _points(name, series.get(key), unit)


def _bands(page: Page) -> Iterable[charts.Band]:
    start = page.run.clock.unix_ns
    at_once = mixes.names(page.run)
    drawn: dict[tuple[str, str], list[Phase]] = {}
    for phase in page.run.phases:
        if phase.end_ns is not None and phase.kind in _LANES and not phase.part_of:
            # Of several at the same time, each lane has one band.
            place = at_once.get(phase.name, phase.name), str(phase.kind)
            drawn.setdefault(place, []).append(phase)
    for phases in drawn.values():
        words = "; ".join(map(_words, phases))
        yield charts.Band(
            _LANES[phases[0].kind].name,
            (min(one.start_ns for one in phases) - start) / 1e9,
            (max(one.end_ns or 0 for one in phases) - start) / 1e9,
            " + ".join(_label(page, one) for one in phases),
            words,
        )


def _words(phase: Phase) -> str:
    words = f"{phase.title}: {seconds(phase.seconds)}"
    return words if phase.status == "done" else f"{words}, {phase.status}"


def _label(page: Page, phase: Phase) -> str:
    if has_detail(phase, OltpDetail):
        return users_title(phase.detail, "")
    if phase.kind == "check":
        return ""
    if phase.kind == "maintenance":
        return phase.title.lower()
    workload = phase.detail.workload
    title = page.title(phase.target) if phase.target else ""
    if phase.kind not in ("load", "index") or workload is None:
        return title
    return f"{workload} {title}{which(phase)}"


def _limits(page: Page) -> Table:
    rows: list[list[str | Cell]] = []
    parts = {phase.name for phase in page.run.phases if phase.part_of}
    titles = {phase.name: phase.title for phase in page.run.phases}
    for finding in page.findings:
        if finding.code.startswith("limit-") and finding.phase not in parts:
            title, _, text = finding.message.partition(": ")
            known = titles.get(finding.phase or "", title)  # a title may contain a colon
            if finding.message.startswith(f"{known}: "):
                title, text = known, finding.message[len(known) + 2 :]
            words = finding.code.removeprefix("limit-").replace("-", " ").replace("cpu", "CPU")
            tone = "muted" if words == "unattributed" else ""
            words = "not identified" if tone else words
            rows.append([title, Cell(words, tone), f"{text[:1].upper()}{text[1:]}"])
    return Table(
        "Bottlenecks",
        [Column("Phase"), Column("Bottleneck"), Column("Reason", wide=True)],
        rows,
        "The resource with the highest utilisation, or with the largest share of the sessions' "
        "time, then the next one. To verify a bottleneck, change that resource and compare.",
    )
