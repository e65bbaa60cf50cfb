"""The figures of a load: rates, latencies of service and of response, what did not keep up."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.analyse.io.point import QUANTILES, SIDES, Part, Point, iops_of, mbps_of, quantity
from dyno.bundle.model import Estimate
from dyno.profiles.arms import Load

TABLE = "io table"
MB = "MB = 10^6 bytes"

_TIMES = ("mean", *QUANTILES, "max")


def figures(name: str, load: Load, point: Point, of: str) -> Iterable[Estimate]:
    """All figures of a load.

    Args:
        name: How their names start.
        load: What was asked.
        point: What was measured.
        of: What the ceiling is about: ``p95``, ``mean`` or ``p99``.
    """
    yield rate(f"{name}.iops", point, "IOPS")
    yield rate(f"{name}.mbps", point, "MB/s")
    yield from _sides(name, point)
    yield Estimate(name=f"{name}.in_flight", value=point.in_flight, unit="", source=TABLE)
    yield Estimate(name=f"{name}.errors", value=point.errors, unit="", source=TABLE)
    yield from times(name, point, _TIMES, TABLE)
    if len(point.lanes) > 1:
        yield Estimate(
            name=f"{name}.slowest_{of}_ms",
            value=point.slowest_ms(of),
            unit="ms",
            source=f"io_parts table, histograms; the highest {of} of reads, writes and syncs of "
            "any job on any volume",
        )
    if point.syncs:
        yield syncs(name, point, TABLE)
    if point.is_open:
        yield from _open(name, load, point)
    if point.windows > 1:
        yield Estimate(name=f"{name}.windows", value=point.windows, unit="", source=TABLE)
        if (variation := point.cov_percent) is not None:
            yield Estimate(
                name=f"{name}.cov_percent",
                value=variation,
                unit="%",
                source=f"standard deviation of the IOPS of {point.windows} windows, of their mean",
            )


def rate(name: str, point: Point, unit: str) -> Estimate:
    """IOPS or MB/s of all windows of a load: what ended over seconds, and a t interval."""
    mega = unit == "MB/s"
    value = point.mbps if mega else point.iops
    half = point.half_width(mbps_of if mega else iops_of)
    words = [TABLE, *([MB] if mega else [])]
    if half is None:
        return Estimate(name=name, value=value, unit=unit, source="; ".join(words))
    words.append(f"95 % t interval over {point.windows} windows")
    low, high = max(0.0, value - half), value + half
    return Estimate(name=name, value=value, unit=unit, low=low, high=high, source="; ".join(words))


def _sides(name: str, point: Point) -> Iterable[Estimate]:
    """Reads and writes apart, where there are both."""
    for side in SIDES[:2] if point.is_mixed else ():
        iops, mbps = point.of_side(side)
        yield Estimate(name=f"{name}.{side}_iops", value=iops, unit="IOPS", source=TABLE)
        source = f"{TABLE}; {MB}"
        yield Estimate(name=f"{name}.{side}_mbps", value=mbps, unit="MB/s", source=source)


def syncs(name: str, part: Part, table: str) -> Estimate:
    """Syncs a second."""
    return Estimate(name=f"{name}.syncs_per_s", value=part.syncs_per_s, unit="1/s", source=table)


def times(name: str, part: Part, labels: Iterable[str], table: str) -> Iterable[Estimate]:
    """Service times by side, and after them response times, in ms."""
    for kind, sides in (("", part.service), ("response_", part.response)):
        about = " of response time, from when each was due" if kind else ""
        for side, latencies in sides.items():
            for label in labels:
                yield Estimate(
                    name=f"{name}.{side}_{kind}{label}_ms",
                    value=quantity(latencies, label),
                    unit="ms",
                    source=f"{table}, histogram{about}",
                )


def _open(name: str, load: Load, point: Point) -> Iterable[Estimate]:
    if load.rate is not None:
        yield Estimate(
            name=f"{name}.offered_iops",
            value=load.rate,
            unit="IOPS",
            source="the plan; due in a second, of the jobs that have a rate",
        )
    late, unissued = (sum(row[key] or 0 for row in point.rows) for key in ("late", "unissued"))
    if point.operations:
        yield Estimate(
            name=f"{name}.late_percent",
            value=100 * late / point.operations,
            unit="%",
            source=f"{TABLE}; issued more than 1 ms after it was due, of what ended",
        )
    yield Estimate(
        name=f"{name}.unissued",
        value=unissued,
        unit="",
        source=f"{TABLE}; due and never issued, as all of the depth was in use",
    )
