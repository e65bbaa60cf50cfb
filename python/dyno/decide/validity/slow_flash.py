"""Slow flash: a cache on flash served reads no faster than the files in front of which it is."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.bundle import metrics
from dyno.bundle.carriers import of_target
from dyno.bundle.flash import ALL, SOURCE, Flash
from dyno.decide.case import Case
from dyno.decide.rule import Rule, Ruling, Weight


def _check(case: Case) -> Iterable[Ruling]:
    for phase in case.phases("dss", "oltp"):
        at = metrics.Resources(phase.name)
        hit = at.sampled(SOURCE, ALL, Flash.hit).mean
        bound = metrics.Accelerated(phase.name).speed_up_bound
        times, hit_ms = case.value(bound), case.value(hit)
        if times is None or hit_ms is None or times > 1:
            continue
        devices = of_target(case.bundle.run, phase.target)
        shared = sorted({*devices.get("flash", ())} & {*devices.get("data", ())})
        why = f" Both are on {', '.join(shared)}." if shared else ""
        miss_ms = case.value(at.sampled(SOURCE, ALL, Flash.miss).mean) or 0.0
        yield Ruling(
            "warning",
            f"{phase.title}: a read from the cache took {hit_ms:.2g} ms, a read that it lacked "
            f"{miss_ms:.2g} ms: it gains nothing.{why}",
            phase.name,
            (hit.name, bound.name),
        )


RULE = Rule(
    code="slow-flash",
    weight=Weight.DOUBTFUL,
    definition="Reads that a cache on flash served took no less time than those that it lacked.",
    explanation=(
        "A cache gains at most the mean time of a miss by that of a read. Files on the same device "
        "as the cache, or in the page cache of this machine, are read as fast without it."
    ),
    check=_check,
)
