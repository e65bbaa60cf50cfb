"""CPU and memory by phase."""

from __future__ import annotations

from dyno.bundle.model import Phase, has_detail
from dyno.bundle.phases import PhaseKind
from dyno.bundle.phases.certify import CertifyDetail
from dyno.bundle.phases.oltp import OltpDetail
from dyno.report.kit.blocks import Block, Cell, Column, Figure, Row, Section, Table
from dyno.report.kit.charts import bars as charts
from dyno.report.kit.charts.keys import keys
from dyno.report.kit.charts.render import Size, render
from dyno.report.kit.formats import bytes_text, rounded, seconds, users_title
from dyno.report.run import interfaces
from dyno.report.run.page import Page
from dyno.report.run.volumes import observed

ORDER = 61

_MOST_BARS = 12
_GIB = 1 << 30
_LONGEST = 20
"""Letters of a label that fit beside the bars."""
_SHORT: dict[PhaseKind, str] = {"load": "Load", "index": "Index", "dss": "Queries"}


def section(page: Page) -> Section | None:
    """Bars of CPU and available memory, then a row for each phase."""
    phases = observed(page)
    if not phases:
        return None
    blocks: list[Block] = [_table(page, phases)]
    traffic = interfaces.table(page, phases)
    if traffic is not None:
        blocks.append(traffic)
    figures = _figures(page, phases[:_MOST_BARS])
    if figures:
        blocks.insert(0, Row(figures, even=True))
    return Section("usage", "CPU and memory", blocks)


def _figures(page: Page, phases: list[Phase]) -> list[Figure]:
    cpu: list[charts.Bar] = []
    memory: list[charts.Bar] = []
    for phase, label in zip(phases, _labels(page, phases), strict=True):
        at = page.resources(phase)
        for series, key in (("mean", at.cpu_busy.mean), ("maximum", at.cpu_busy.max)):
            value = page.value(key)
            if value is not None:
                text = f"{value:.0f} %"
                cpu.append(charts.Bar(label, series, value, text, f"{label}: {series} {text}"))
        least = page.value(at.memory_available.min)
        if least is not None:
            text = bytes_text(least)
            words = f"{label}: at least {text} available"
            memory.append(charts.Bar(label, "minimum", least / _GIB, text, words))
    size = Size(330, 140)
    found: list[Figure] = []
    if cpu:
        alt = f"CPU utilisation by phase. {'; '.join(bar.words for bar in cpu)}."
        found.append(
            Figure(
                render(lambda width: charts.lying(cpu, "CPU utilisation, %", width), size, alt),
                "CPU utilisation of the machine: mean, and maximum of a second.",
                keys(["mean", "maximum"], shapes=False),
            )
        )
    if memory:
        alt = f"Minimum of the available memory by phase. {'; '.join(bar.words for bar in memory)}."
        found.append(
            Figure(
                render(
                    lambda width: charts.lying(memory, "Available memory, GiB", width), size, alt
                ),
                "Minimum of the machine's available memory.",
            )
        )
    return found


def _labels(page: Page, phases: list[Phase]) -> list[str]:
    """Short unique names of phases."""
    found: list[str] = []
    for phase in phases:
        if has_detail(phase, OltpDetail):
            label = users_title(phase.detail, phase.title)
        elif has_detail(phase, CertifyDetail):
            what = phase.detail.part or page.title(phase.target)
            label = f"{what}, {phase.detail.test}"
        elif phase.kind in _SHORT:
            label = f"{_SHORT[phase.kind]} {page.title(phase.target)}"
        else:
            label = phase.title
        label = label if len(label) <= _LONGEST else f"{label[: _LONGEST - 1].rstrip()}…"
        again = sum(one == label or one.startswith(f"{label} (") for one in found)
        found.append(f"{label} ({again + 1})" if again else label)
    return found


def _table(page: Page, phases: list[Phase]) -> Table:
    labels = ("Duration", "CPU mean, %", "CPU max, %", "CPU steal, %", "Mean available memory",
              "Min. available memory")  # fmt: skip
    columns = [Column("Phase"), *(Column(label, numeric=True) for label in labels)]
    rows: list[list[str | Cell]] = []
    for phase in phases:
        at = page.resources(phase)
        rows.append(
            [
                phase.title,
                seconds(phase.seconds),
                rounded(page.value(at.cpu_busy.mean)),
                rounded(page.value(at.cpu_busy.max)),
                rounded(page.value(at.cpu_steal.mean)),
                bytes_text(page.value(at.memory_available.mean)),
                bytes_text(page.value(at.memory_available.min)),
            ]
        )
    note = "Of the whole machine. Load levels exclude the warm-up."
    return Table("Means by phase", columns, rows, note)
