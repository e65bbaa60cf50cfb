"""How much faster a cache on flash serves reads, at the latencies of the same run."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.bundle import metrics
from dyno.bundle.flash import ALL, SOURCE, Flash
from dyno.bundle.model import Estimate


def bound(phase: str, of_phase: Iterable[Estimate]) -> Iterable[Estimate]:
    """``accelerate.<phase>.speed_up_bound``: 1 / ((1 - h) + h · hit / miss).

    h is the share of the reads that flash served alone. This bounds the gain if the volume is as
    fast without the cache; a volume that is busier and slower then gains more. A phase without
    misses has no miss latency, and no bound.

    Args:
        phase: The name of the phase.
        of_phase: Its estimates of resources.
    """
    known = metrics.Estimates(of_phase)
    at = metrics.Resources(phase)

    def mean(metric: Flash) -> float | None:
        return known.value(at.sampled(SOURCE, ALL, metric).mean)

    hits, misses, hit, miss = map(mean, (Flash.hits, Flash.misses, Flash.hit, Flash.miss))
    if not (hits and misses and hit and miss):
        return
    share = hits / (hits + misses)
    yield metrics.Accelerated(phase).speed_up_bound.estimate(
        1 / ((1 - share) + share * hit / miss),
        "1 / ((1 - h) + h · hit / miss), h: share of the reads that flash served alone",
    )
