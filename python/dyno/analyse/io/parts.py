"""Metrics of a load per volume, and per job if several run at once."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.analyse.io.loads import MB, times
from dyno.analyse.io.point import Part, Point
from dyno.bundle import metrics
from dyno.bundle.metrics.io import Quantity
from dyno.bundle.model import Estimate

_TABLE = "io_parts table"


def part_estimates(at: metrics.StorageLoad, point: Point, of: Quantity) -> Iterable[Estimate]:
    """``<load>.at.<volume>.<metric>`` and ``<load>.job.<job>.<metric>``; none for one.

    Args:
        at: The metric names of the load.
        point: The measurements.
        of: The quantity of the ceiling: ``p95``, ``mean`` or ``p99``; p95 is always included.
    """
    for part_of, parts in ((at.volume, point.volumes), (at.job, point.jobs)):
        for own, part in parts.items():
            yield from _of_part(part_of(own), part, of)


def _of_part(at: metrics.Part, part: Part, of: Quantity) -> Iterable[Estimate]:
    yield at.iops.estimate(part.iops, _TABLE)
    yield at.mbps.estimate(part.mbps, f"{_TABLE}; {MB}")
    yield at.errors.estimate(part.errors, _TABLE)
    if part.syncs:
        yield at.syncs_per_s.estimate(part.syncs_per_s, _TABLE)
    both: tuple[Quantity, ...] = ("p95", of)
    yield from times(at, part, dict.fromkeys(both), _TABLE)
