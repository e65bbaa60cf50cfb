"""Loads: time and speed of each load."""

from __future__ import annotations

from dyno.bundle import metrics
from dyno.bundle.model import Phase
from dyno.bundle.phases.load import LoadDetail
from dyno.bundle.phases.provision import ProvisionDetail
from dyno.report.kit.blocks import Block, Cell, Column, Section, Table, without_empty
from dyno.report.kit.formats import decimal_bytes, fixed, rounded
from dyno.report.run.page import Page
from dyno.report.run.steps import load_blocks, loads_that_stayed, which

ORDER = 70


def section(page: Page) -> Section | None:
    """A table of loads with index creation."""
    columns = [Column("Load"), Column("Streams", numeric=True)]
    columns += [
        Column(label, numeric=True)
        for label in (
            "Rows",
            "Size",
            "Load, s",
            "MB/s",
            "Rows/s",
            "GB/h",
            "Keys, indexes, s",
            "Their log",
        )
    ]
    rows: list[list[str | Cell]] = []
    notices: dict[str, None] = {}
    for phase in page.phases_of(LoadDetail):
        rows.append(_row(page, phase))
        notices[page.notice(str(phase.detail.workload))] = None
    if not rows:
        return None
    same = any(phase.detail.text_bytes is not None for phase in page.phases_of(LoadDetail))
    note = (
        "Size: bytes sent, before keys and indexes; MB = 10⁶ bytes. "
        + ("MB/s and GB/h use the size of the rows as .tbl files on all targets. " if same else "")
        + "No intermediate files."
    )
    notice = " ".join(filter(None, notices))
    columns, rows = without_empty(columns, rows)
    blocks: list[Block] = [Table("Load speed", columns, rows, note, notice)]
    for phase in loads_that_stayed(page):
        blocks += load_blocks(page, phase)
    blocks += [
        _setup(page, phase) for phase in page.phases_of(ProvisionDetail) if phase.detail.statements
    ]
    return Section("loads", "Loads", blocks, folded=True)


def _setup(page: Page, phase: Phase[ProvisionDetail]) -> Table:
    """The statements that followed a load, with their times."""
    columns = [Column("Statement"), Column("Time, s", numeric=True)]
    rows: list[list[str | Cell]] = [
        [name, fixed(seconds, 3)] for name, seconds in (phase.detail.statements or {}).items()
    ]
    return Table(f"Setup in {page.title(phase.target)}{which(phase)}", columns, rows)


def _row(page: Page, phase: Phase[LoadDetail]) -> list[str | Cell]:
    workload, scale = phase.detail.workload, phase.detail.scale
    scaled = "" if scale is None else f" {scale:g}"
    if phase.detail.days is not None:
        scaled += f", {phase.detail.days} days"
    title = f"{workload}{scaled}{which(phase)} → {page.title(phase.target)}"
    if phase.detail.resumed_parts is not None:
        title += " (resumed)"
    if phase.status != "done":
        return [title, "–", Cell(phase.status, "bad"), *(["–"] * 7)]
    streams = phase.detail.streams
    loaded = metrics.loaded(phase)
    at, index = metrics.Load(loaded, phase.target), metrics.Index(loaded, phase.target)
    return [
        title,
        "–" if streams is None else str(streams),
        rounded(page.value(at.rows)),
        decimal_bytes(page.value(at.bytes)),
        fixed(page.value(at.seconds), 2),
        rounded(page.value(at.mb_per_s)),
        rounded(page.value(at.rows_per_s)),
        rounded(page.value(at.gb_per_h)),
        fixed(page.value(index.seconds), 2),
        decimal_bytes(page.value(index.log_bytes)),
    ]
