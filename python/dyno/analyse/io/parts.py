"""The figures of a load by volume, and by job where several run together."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.analyse.io.figures import MB, times
from dyno.analyse.io.point import Part, Point
from dyno.bundle import metrics
from dyno.bundle.metrics.io import Quantity
from dyno.bundle.model import Estimate

_TABLE = "io_parts table"


def figures(at: metrics.StorageLoad, point: Point, of: Quantity) -> Iterable[Estimate]:
    """``<load>.at.<volume>.<metric>`` and ``<load>.job.<job>.<metric>``; none of a lone one.

    Args:
        at: The load's metrics.
        point: What was measured.
        of: What the ceiling is about: ``p95``, ``mean`` or ``p99``; p95 is told either way.
    """
    for part_of, parts in ((at.volume, point.volumes), (at.job, point.jobs)):
        for own, part in parts.items():
            yield from _figures(part_of(own), part, of)


def _figures(at: metrics.Part, part: Part, of: Quantity) -> Iterable[Estimate]:
    yield at.iops.estimate(part.iops, _TABLE)
    yield at.mbps.estimate(part.mbps, f"{_TABLE}; {MB}")
    yield at.errors.estimate(part.errors, _TABLE)
    if part.syncs:
        yield at.syncs_per_s.estimate(part.syncs_per_s, _TABLE)
    both: tuple[Quantity, ...] = ("p95", of)
    yield from times(at, part, dict.fromkeys(both), _TABLE)
