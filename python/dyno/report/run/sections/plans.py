"""Plans: the estimated or actual plan of each query. Folded."""

from __future__ import annotations

from dyno.report.kit.blocks import Block, Section, Text
from dyno.report.kit.formats import query_title
from dyno.report.run.page import Page

ORDER = 45

_LONGEST = 20_000
"""Characters shown of a plan; the bundle has the full text."""


def section(page: Page) -> Section | None:
    """A folded text per query and target."""
    blocks: list[Block] = []
    analysed = False
    for target, query, plan in page.bundle.plans():
        text, error = plan.get("text"), plan.get("error")
        shown = text if isinstance(text, str) else f"No plan: {error}"
        if len(shown) > _LONGEST:
            shown = f"{shown[:_LONGEST]}\n…"
        blocks.append(Text(f"{query_title(query)} on {page.title(target)}", shown))
        analysed = analysed or plan.get("analysed") is True
    if not blocks:
        return None
    how = "actual rows and times of one extra run" if analysed else "the engine's estimates"
    lead = f"One node per line, indented below its parent: {how}. Taken outside the measured time."
    return Section("plans", "Plans", blocks, lead, folded=True)
