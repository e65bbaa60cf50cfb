"""Slow flash: a cache on flash served reads no faster than the files in front of which it is."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.bundle import metrics
from dyno.bundle.carriers import of_target
from dyno.bundle.flash import ALL, SOURCE, Flash
from dyno.decide.case import Case
from dyno.decide.rule import Rule, Ruling, Weight

_MOST_HITS = 90.0
"""Above this hit ratio, in %, the slow volume is nearly idle: its latency would be another one."""


def _check(case: Case) -> Iterable[Ruling]:
    for phase in case.phases("dss", "oltp"):
        at = metrics.Resources(phase.name)
        hit = at.sampled(SOURCE, ALL, Flash.hit).mean
        bound = metrics.Accelerated(phase.name).speed_up_bound
        times, hit_ms = case.value(bound), case.value(hit)
        ratio = case.value(at.sampled(SOURCE, ALL, Flash.hit_ratio).mean) or 0.0
        if times is None or hit_ms is None or times > 1 or ratio > _MOST_HITS:
            continue
        devices = of_target(case.bundle.run, phase.target)
        shared = sorted({*devices.get("flash", ())} & {*devices.get("data", ())})
        why = f" Both are on {', '.join(shared)}." if shared else ""
        miss_ms = case.value(at.sampled(SOURCE, ALL, Flash.miss).mean) or 0.0
        yield Ruling(
            "warning",
            f"{phase.title}: a cache hit took {hit_ms:.2g} ms, a miss {miss_ms:.2g} ms: the cache "
            f"gains nothing.{why}",
            phase.name,
            (hit.name, bound.name),
        )


RULE = Rule(
    code="slow-flash",
    weight=Weight.DOUBTFUL,
    definition="Hits of a cache on flash took at least as long as its misses.",
    explanation=(
        "A cache gains nothing if a hit takes as long as a miss. Files on the same device as the "
        "cache, or in the page cache of this machine, are read as fast without it. Above a hit "
        "ratio of 90 %, the misses are too few to tell."
    ),
    check=_check,
)
