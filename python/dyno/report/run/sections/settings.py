"""Versions and settings of the targets."""

from __future__ import annotations

from collections.abc import Sequence

from dyno.bundle.model import Applied
from dyno.report.kit.blocks import Block, Cell, Column, Section, Table
from dyno.report.run.page import Page

ORDER = 90

_RESTORED: dict[bool | None, Cell] = {
    True: Cell("yes"),
    False: Cell("no", "bad", "the next start of the target retries"),
    None: Cell("unknown", "bad", "the run did not complete"),
}


def section(page: Page) -> Section | None:
    """Version and settings of each target, read back from the live system."""
    blocks: list[Block] = []
    for name, facts in page.run.targets.items():
        if facts.tuned:
            blocks.append(_tuned(page.title(name), facts.tuned))
        rows: list[list[str | Cell]] = [[key, value] for key, value in facts.settings.items()]
        blocks.append(
            Table(
                f"{facts.version} at {facts.url}" if facts.version else name,
                [Column("Setting"), Column("Value")],
                rows,
                folded=len(rows) > 6,
            )
        )
    lead = "As read back from the running servers."
    return Section("settings", "Settings", blocks, lead, folded=True) if blocks else None


def _tuned(title: str, applied: Sequence[Applied]) -> Table:
    """Settings changed for the run: portable name, native name, values and outcome."""
    columns = [Column(label) for label in ("Requested", "Setting", "Set to", "Read back", "Before")]
    rows: list[list[str | Cell]] = [
        [
            f"{item.word}={item.asked}",
            item.name,
            item.value,
            item.found,
            item.before or "unset",
            _RESTORED[item.restored],
            "; ".join(text for text in (item.how, item.note) if text),
        ]
        for item in applied
    ]
    return Table(
        f"Changed on {title} for this run",
        [*columns, Column("Restored"), Column("How", wide=True)],
        rows,
    )
