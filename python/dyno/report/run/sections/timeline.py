"""System metrics over time, and the bottleneck of each phase."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

from dyno.bundle import metrics
from dyno.bundle.carriers import machine_of, of_phase
from dyno.bundle.metrics.resource import DeviceMetric
from dyno.bundle.model import Phase, has_detail
from dyno.bundle.phases import PhaseKind
from dyno.bundle.phases.oltp import OltpDetail
from dyno.bundle.series import Key, of_device
from dyno.report.kit.blocks import Block, Cell, Column, Figure, Section, Table
from dyno.report.kit.charts import theme
from dyno.report.kit.charts import timeline as charts
from dyno.report.kit.charts.render import Size, render
from dyno.report.kit.formats import bytes_text, rounded, seconds, users_title
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
    "maintenance": charts.Lane("Maintenance", theme.ORANGE),
    "search": charts.Lane("Search", theme.MUTED),
    "plans": charts.Lane("Plans", theme.MUTED),
    "check": charts.Lane("Checks", theme.MUTED),
}
_WANTED = [
    *(("cpu", metric) for metric in ("busy", "iowait")),
    *(
        (source, f"{side}_{unit}")
        for source in ("disk", "nested_disk")
        for unit in ("mbps", "iops")
        for side in ("read", "write")
    ),
]

_TABLED: tuple[PhaseKind, ...] = ("io", "load", "index", "dss", "oltp")
_MOST_DEVICES = 2
_OF_DEVICE: dict[DeviceMetric, str] = {
    "utilisation": "Utilisation, %",
    "queue_length": "Queue length",
    "read_mbps": "Read MB/s",
    "write_mbps": "Write MB/s",
    "read_iops": "Read IOPS",
    "write_iops": "Write IOPS",
    "read_await": "Read await, ms",
    "write_await": "Write await, ms",
}


def section(page: Page) -> Section | None:
    """The timeline, and tables of means and bottlenecks by phase."""
    blocks: list[Block] = []
    found = _figure(page)
    if found is not None:
        blocks.append(found)
    table = _table(page)
    if table.rows:
        blocks.append(table)
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
        )
    ]
    units = (("mbps", "MB/s"), ("iops", "IOPS"))
    for device, (unit, title) in product(_devices(page, series), units):
        readings = [
            reading
            for side in ("read", "write")
            for reading in _points(side, of_device(series, device, f"{side}_{unit}"))
        ]
        words = f"{device}, {title}: read (solid), write (dashed)"
        panels.append(charts.Panel(words, readings))
    done = throughput(page.bundle)
    panels.append(
        charts.Panel("Transactions/s", _points("transactions/s", done) if done.values else [])
    )
    panels = [panel for panel in panels if panel.readings]
    bands = list(_bands(page))
    if not panels or not bands:
        return None
    alt = (
        "The phases of the run as bands over time; below them CPU and device metrics. The table "
        "has the means by phase."
    )
    lanes = list(_LANES.values())
    shown = "CPU, devices and transactions" if done.values else "CPU and devices"
    return Figure(
        render(lambda width: charts.timeline(bands, lanes, panels, width), Size(970, 262), alt),
        f"Phases of the run, and {shown} over time. The shading shows the phase.",
        notice=page.transaction_notice if done.values else "",
    )


def _devices(page: Page, series: dict[Key, Series]) -> list[str]:
    """Sampled devices of the phases, at most ``_MOST_DEVICES``."""
    named = (name for phase in page.phases(*_TABLED) for name in of_phase(page.run, phase))
    seen = [name for name in dict.fromkeys(named) if of_device(series, name, "read_mbps")]
    return seen[:_MOST_DEVICES]


def _points(name: str, series: Series | None) -> list[charts.Reading]:
    if series is None:
        return []
    pairs = zip(series.seconds, series.values, strict=True)
    return [charts.Reading(name, second, value) for second, value in pairs]


def _readings(series: dict[Key, Series], key: Key, name: str) -> list[charts.Reading]:
    return _points(name, series.get(key))


def _bands(page: Page) -> Iterable[charts.Band]:
    start = page.run.clock.unix_ns
    for phase in page.run.phases:
        lane = _LANES.get(phase.kind)
        if phase.end_ns is None or lane is None or phase.part_of:
            continue
        words = f"{phase.title}: {seconds(phase.seconds)}"
        yield charts.Band(
            lane.name,
            (phase.start_ns - start) / 1e9,
            (phase.end_ns - start) / 1e9,
            _label(page, phase),
            words if phase.status == "done" else f"{words}, {phase.status}",
        )


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


def _table(page: Page) -> Table:
    machine = ("Duration", "CPU mean, %", "CPU max, %", "Min. available memory")
    columns = [
        Column("Phase"),
        *(Column(label, numeric=True) for label in machine),
        Column("Device"),
        *(Column(label, numeric=True) for label in _OF_DEVICE.values()),
    ]
    rows: list[list[str | Cell]] = []
    for phase in page.phases(*_TABLED):
        at = metrics.Resources(phase.name, machine=machine_of(page.run, phase.target))
        if not page.value(at.samples) or phase.part_of:
            continue
        cells = [
            phase.title,
            seconds(phase.seconds),
            rounded(page.value(at.cpu_busy.mean)),
            rounded(page.value(at.cpu_busy.max)),
            bytes_text(page.value(at.memory_available.min)),
        ]
        # A row per device; the first also has the machine's values.
        for device in of_phase(page.run, phase) or ("",):
            means = [rounded(page.value(at.device(device, metric).mean)) for metric in _OF_DEVICE]
            shown: str | Cell = device or Cell("unknown", "muted")
            rows.append([*cells, shown, *means])
            cells = [""] * len(cells)
    note = (
        "Means per phase, of the devices of the database or the profiled volume; await is a mean "
        "over requests. Load levels exclude the warm-up. Utilisation: share of time with a request "
        "in flight; a device with parallelism may not be saturated at 100 %."
    )
    return Table("Means by phase", columns, rows, note, folded=False)


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
        "The most utilised resource of each phase. To verify it, change that resource and compare.",
    )
