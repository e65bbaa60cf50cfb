"""How the metrics of a storage profile are defined."""

from __future__ import annotations

from dyno.profiles.volume_sets import how
from dyno.report.kit.blocks import Fact
from dyno.report.kit.formats import rounded
from dyno.report.run.page import Page
from dyno.report.storage.places import places


def method(page: Page) -> list[Fact]:
    """Definitions of the storage metrics; empty without a storage profile."""
    found = places(page)
    if not found:
        return []
    curves = [curve for place in found for curve in place.curves]
    bests = [curve.best for curve in curves if curve.best is not None]
    ceiling = found[0].volume_set.ceiling
    of = ceiling.of
    together = any(curve.volumes or curve.jobs for curve in curves)
    facts = [
        Fact(
            "Best IOPS",
            f"The highest IOPS at a load where {of} of reads and {of} of writes are each within "
            f"{rounded(ceiling.ms)} ms"
            + (", for every job on every volume" if together else "")
            + ". Best MB/s: the maximum of the curve.",
        )
    ]
    if any(best.confirmed is not None for best in bests):
        facts.append(
            Fact(
                "Searched loads",
                "The load doubles until a step exceeds the ceiling or throughput saturates. Then "
                "bisection (geometric mean) narrows the gap. The best load is measured again; all "
                "its windows must be within the ceiling.",
            )
        )
    if any(best.low is not None for best in bests):
        facts.append(
            Fact(
                "Storage intervals",
                "95 % confidence interval of the mean over the windows at that load (Student's t). "
                "Few windows make it wide.",
            )
        )
    if any(curve.is_open for curve in curves):
        facts.append(
            Fact(
                "Latency in an open loop",
                "Response time: from the scheduled time of an I/O. Service time: from submission. "
                "I/Os never issued are counted separately. The ceiling applies to response time.",
            )
        )
    if how(page.run) == "scaling":
        facts.append(
            Fact(
                "Efficiency",
                "Best of several concurrent volumes, in % of the sum of their bests alone. A "
                "volume not measured alone counts as the first one.",
            )
        )
    return facts
