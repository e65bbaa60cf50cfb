"""Link ceiling: the best rate is near the highest rate of the link to the disks."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.bundle.subjects import subjects
from dyno.decide.case import Case
from dyno.decide.rule import Rule, Ruling, Weight

LEAST_PERCENT = 80
"""Protocols take some of the rate of a link."""


def _check(case: Case) -> Iterable[Ruling]:
    for phase in case.phases("io"):
        found = subjects(phase)
        links = [volume.number("link_mbps") for volume in found]
        ceiling = sum(rate or 0.0 for rate in links)
        # Volumes may share a disk, and so its link.
        disks = [tuple(volume.facts.get("members") or ()) for volume in found]
        if not ceiling or None in links or len(set(disks)) < len(disks):
            continue
        keys = [step.metrics.mbps for step in case.steps_in(phase)]
        best = max(keys, key=lambda key: case.value(key) or 0.0, default=None)
        mbps = None if best is None else case.value(best)
        if best is None or mbps is None:
            continue
        percent = 100 * mbps / ceiling
        if percent >= LEAST_PERCENT:
            names = ", ".join(dict.fromkeys(str(volume.facts.get("link")) for volume in found))
            yield Ruling(
                "note",
                f"{phase.title}: the best rate, {mbps:,.0f} MB/s, is {percent:.0f} % of the link's "
                f"{ceiling:,.0f} MB/s ({names}). The link, not the media, probably limits it.",
                phase.name,
                (best.name,),
            )


RULE = Rule(
    code="link-ceiling",
    weight=Weight.DOUBTFUL,
    definition=(
        f"The best MB/s are at least {LEAST_PERCENT} % of the highest rate of the links to the "
        "disks. Always a note."
    ),
    explanation="Faster disks on the same link would not give more throughput.",
    check=_check,
)
