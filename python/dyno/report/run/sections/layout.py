"""The layout of data that was loaded before the run."""

from __future__ import annotations

from dyno.report.kit.blocks import Section
from dyno.report.run.page import Page
from dyno.report.run.steps import layout_block, notes_block

ORDER = 75


def section(page: Page) -> Section | None:
    """The layout; a run that loads data shows it in the Loads section."""
    if page.phases("load"):
        return None
    layout = page.run.plan.get("layout")
    block = layout_block(layout)
    if block is None:
        return None
    own = layout.get("notes") if isinstance(layout, dict) else None
    notes = notes_block(own if isinstance(own, list) else [])
    blocks = [block] if notes is None else [block, notes]
    return Section("layout", "Layout", blocks, "The layout at load time.", folded=True)
