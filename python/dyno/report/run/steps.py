"""The steps of a load and its layout, as blocks of the report."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dyno.bundle.model import Phase
from dyno.bundle.phases.index import IndexDetail
from dyno.bundle.phases.load import LoadDetail, Step
from dyno.contracts import databases
from dyno.report.kit.blocks import Block, Cell, Column, Fact, Facts, Note, Notes, Table
from dyno.report.kit.formats import decimal_bytes, fixed, rounded
from dyno.report.run.page import Page

_FOLDED = 12


def loads_that_stayed(page: Page) -> list[Phase[LoadDetail]]:
    """The last load of each database and target; earlier ones only compare streams."""
    last = {(database_of(phase), phase.target): phase for phase in page.phases_of(LoadDetail)}
    return list(last.values())


def database_of(phase: Phase) -> str:
    """The name of the database that a phase loads or indexes; by default the workload's."""
    return databases.name(str(phase.detail.workload), phase.detail.database or 1)


def steps(page: Page, load: Phase[LoadDetail]) -> list[Step]:
    """The steps of a load and its index creation, in order."""
    listed = [load.detail.space, *(phase.detail.space for phase in _indexed(page, load))]
    return [step for steps in listed for step in steps if step.step is not None]


def which(load: Phase) -> str:
    """``, database 2`` for a load of several databases; empty for the first."""
    found = load.detail.database
    return "" if found is None else f", database {found}"


def _indexed(page: Page, load: Phase) -> list[Phase[IndexDetail]]:
    """The index phases of a load."""
    return [
        phase
        for phase in page.phases_of(IndexDetail)
        if phase.target == load.target and database_of(phase) == database_of(load)
    ]


def steps_table(page: Page, load: Phase[LoadDetail]) -> Table | None:
    """Each step with its time, speed where rows move, and space."""
    found = steps(page, load)
    if not found:
        return None
    labels = ["Time, s", "GB/h", "Peak extra space", "Peak / table size", "Final size"]
    measured = any(step.memory_peak_bytes is not None for step in found)
    labels += ["Peak memory"] if measured else []
    columns = [Column("Step"), *(Column(label, numeric=True) for label in labels)]
    rows: list[list[str | Cell]] = [
        [
            step.step or "",
            fixed(step.seconds, 3),
            rounded(step.gb_per_h),
            decimal_bytes(step.extra_peak_bytes),
            _times(step.ratio),
            decimal_bytes(step.extra_rest_bytes),
            *([decimal_bytes(step.memory_peak_bytes)] if measured else []),
        ]
        for step in found
    ]
    return Table(
        f"Steps of the load into {page.title(load.target)}{which(load)}",
        columns,
        rows,
        "Space relative to the start of the step, without logs on a separate volume. Concurrent "
        "steps count their own temporary files and output. A negative final size: the step freed "
        "space. –: the target does not report it.",
        page.notice(str(load.detail.workload)),
        folded=len(rows) > _FOLDED,
    )


def layout_block(layout: object) -> Block | None:
    """The parts of a layout; None for the default layout."""
    if not isinstance(layout, dict) or layout.get("name") in {None, "default"}:
        return None
    facts = [Fact("Layout", str(layout["name"]))]
    if isinstance(layout.get("indexes"), str):
        facts.append(Fact("Keys and indexes", layout["indexes"]))
    tables = layout.get("tables")
    for name, design in (tables if isinstance(tables, dict) else {}).items():
        if isinstance(design, dict):
            facts.append(Fact(str(name), _design(design)))
    facts += [
        Fact(f"Volume for {what}", str(layout[what]))
        for what in ("data", "log", "temp")
        if layout.get(what) is not None
    ]
    return Facts(facts)


def notes_block(*listed: Iterable[object]) -> Block | None:
    """Notes on the layout and its creation."""
    lines = [line for notes in listed for line in notes if isinstance(line, str)]
    return Notes([Note(line) for line in dict.fromkeys(lines)]) if lines else None


def load_blocks(page: Page, load: Phase[LoadDetail]) -> list[Block]:
    """Layout, steps and notes of one load."""
    layout = load.detail.layout or {}
    own = layout.get("notes")
    after = [phase.detail.notes for phase in _indexed(page, load)]
    notes = notes_block(own if isinstance(own, list) else [], *after)
    found = [layout_block(layout), steps_table(page, load), notes]
    return [block for block in found if block is not None]


def _design(design: dict[str, Any]) -> str:
    words: list[str] = []
    parts, by = design.get("partitions"), design.get("partition_by")
    if isinstance(parts, list) and parts:
        side = design.get("side") or "right"
        words.append(f"{len(parts)} partitions by {by}, range {side}")
        bounds = design.get("bounds")
        if isinstance(bounds, list):
            words.append(", ".join(map(str, bounds)))
        volumes = [part.get("volume") for part in parts if isinstance(part, dict)]
        named = list(dict.fromkeys(str(volume) for volume in volumes if volume))
        if named:
            words.append(f"round-robin on {', '.join(named)}")
    if design.get("form"):
        words.append(f"{design['form']} format")
    if design.get("compression"):
        words.append(f"{design['compression']} compression")
    for word, title in (("cluster", "clustered by"), ("volume", "on")):
        if design.get(word):
            value = design[word]
            values = value if isinstance(value, list) else [value]
            words.append(f"{title} {', '.join(map(str, values))}")
    indexes = design.get("indexes")
    if isinstance(indexes, list):
        words += [
            f"{'column store ' if item.get('form') == 'column' else ''}index {item.get('name')}"
            for item in indexes
            if isinstance(item, dict)
        ]
    return "; ".join(words)


def _times(value: float | None) -> str:
    if value is None:
        return "–"
    return "< 0.001 ×" if 0 < value < 0.0005 else f"{rounded(value)} ×"
