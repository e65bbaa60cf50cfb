"""How the figures of a storage profile came about."""

from __future__ import annotations

from dyno.profiles.arms import how
from dyno.report.kit.blocks import Fact
from dyno.report.kit.formats import figure
from dyno.report.run.page import Page
from dyno.report.storage.places import places


def method(page: Page) -> list[Fact]:
    """Definitions of what the sheet shows of storage; none where it was not measured."""
    found = places(page)
    if not found:
        return []
    curves = [curve for place in found for curve in place.curves]
    bests = [curve.best for curve in curves if curve.best is not None]
    ceiling = found[0].arm.ceiling
    of = ceiling.of
    together = any(curve.volumes or curve.jobs for curve in curves)
    facts = [
        Fact(
            "Best IOPS",
            f"The highest rate at a queue depth where {of} of reads and {of} of writes, each on "
            f"its own, keep within {figure(ceiling.ms)} ms"
            + (", for every job on every volume" if together else "")
            + ". Best MB/s: the highest of the curve.",
        )
    ]
    if any(best.confirmed is not None for best in bests):
        facts.append(
            Fact(
                "Searched loads",
                "The load is doubled until a step is outside the ceiling or gives no more; then "
                "the geometric middle is tried. The best is measured again: only windows that all "
                "keep the ceiling confirm it.",
            )
        )
    if any(best.low is not None for best in bests):
        facts.append(
            Fact(
                "Intervals of storage",
                "95 % for the mean, from the spread of the windows at that load by Student's t. "
                "Few windows make them wide.",
            )
        )
    if any(curve.is_open for curve in curves):
        facts.append(
            Fact(
                "Latency in an open loop",
                "Response runs from when an I/O was due, service from its submission; what was "
                "due and never issued is told beside them. The ceiling is for the response.",
            )
        )
    if how(page.run) == "scaling":
        facts.append(
            Fact(
                "Efficiency",
                "The best of several volumes at once, in % of the sum of what they give alone; "
                "of those not measured alone, as much as the first.",
            )
        )
    return facts
