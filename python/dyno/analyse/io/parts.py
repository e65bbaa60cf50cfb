"""The figures of a load by volume, and by job where several run together."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.analyse.io.figures import MB, syncs, times
from dyno.analyse.io.point import Part, Point
from dyno.bundle.model import Estimate

_TABLE = "io_parts table"


def figures(name: str, point: Point, of: str) -> Iterable[Estimate]:
    """``<name>.at.<volume>.<figure>`` and ``<name>.job.<job>.<figure>``; none of a lone one.

    Args:
        name: How their names start.
        point: What was measured.
        of: What the ceiling is about: ``p95``, ``mean`` or ``p99``; p95 is told either way.
    """
    for kind, parts in (("at", point.volumes), ("job", point.jobs)):
        for own, part in parts.items():
            yield from _figures(f"{name}.{kind}.{own}", part, of)


def _figures(name: str, part: Part, of: str) -> Iterable[Estimate]:
    yield Estimate(name=f"{name}.iops", value=part.iops, unit="IOPS", source=_TABLE)
    yield Estimate(name=f"{name}.mbps", value=part.mbps, unit="MB/s", source=f"{_TABLE}; {MB}")
    yield Estimate(name=f"{name}.errors", value=part.errors, unit="", source=_TABLE)
    if part.syncs:
        yield syncs(name, part, _TABLE)
    yield from times(name, part, dict.fromkeys(("p95", of)), _TABLE)
