"""Metrics of a load: rates, service times, response times and overload."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.analyse.io.point import QUANTILES, Part, Point, iops_of, mbps_of, quantity
from dyno.bundle import metrics
from dyno.bundle.metrics.io import Quantity, SideName
from dyno.bundle.model import Estimate
from dyno.profiles.volume_sets import Load
from dyno.safety.plainjson import finite

TABLE = "io table"
MB = "MB = 10^6 bytes"

_TIMES: tuple[Quantity, ...] = ("mean", *QUANTILES, "max")
_MOVING: tuple[SideName, ...] = ("read", "write")


def load_estimates(
    at: metrics.StorageLoad, load: Load, point: Point, of: Quantity
) -> Iterable[Estimate]:
    """Yields all metrics of a load.

    Args:
        at: The metric names of the load.
        load: The requested load.
        point: The measurements.
        of: The quantity of the ceiling: ``p95``, ``mean`` or ``p99``.
    """
    yield rate(at.iops, point)
    yield rate(at.mbps, point)
    yield from _sides(at, point)
    yield at.in_flight.estimate(point.in_flight, TABLE)
    yield at.errors.estimate(point.errors, TABLE)
    yield from times(at, point, _TIMES, TABLE)
    if len(point.lanes) > 1:
        yield at.slowest(of).estimate(
            point.slowest_ms(of),
            f"io_parts table, histograms; the highest {of} of reads, writes and syncs of any job "
            "on any volume",
        )
    if point.syncs:
        yield at.syncs_per_s.estimate(point.syncs_per_s, TABLE)
    if point.is_open:
        yield from _open(at, load, point)
    busiest = [used for row in point.rows if (used := finite(row["thread_percent"])) is not None]
    if busiest:
        yield at.thread_percent.estimate(
            max(busiest), f"{TABLE}; CPU time of the busiest I/O thread / time"
        )
    if point.windows > 1:
        yield at.windows.estimate(point.windows, TABLE)
        if (variation := point.cov_percent) is not None:
            yield at.cov_percent.estimate(
                variation,
                f"standard deviation / mean of the IOPS of {point.windows} windows",
            )


def rate(key: metrics.Key, point: Point) -> Estimate:
    """IOPS or MB/s over all windows of a load: completions per second, with a t interval."""
    mega = key.unit == "MB/s"
    value = point.mbps if mega else point.iops
    half = point.half_width(mbps_of if mega else iops_of)
    words = [TABLE, *([MB] if mega else [])]
    if half is None:
        return key.estimate(value, "; ".join(words))
    words.append(f"95 % t interval over {point.windows} windows")
    return key.estimate(value, "; ".join(words), low=max(0.0, value - half), high=value + half)


def _sides(at: metrics.StorageLoad, point: Point) -> Iterable[Estimate]:
    """Reads and writes separately, if there are both."""
    for side in _MOVING if point.is_mixed else ():
        iops, mbps = point.of_side(side)
        yield at.side(side).iops.estimate(iops, TABLE)
        yield at.side(side).mbps.estimate(mbps, f"{TABLE}; {MB}")


def times(
    at: metrics.Part, part: Part, labels: Iterable[Quantity], table: str
) -> Iterable[Estimate]:
    """Service times per side, then response times, in ms."""
    for side, latencies in part.service.items():
        for label in labels:
            key = at.side(side).service(label)
            yield key.estimate(quantity(latencies, label), f"{table}, histogram")
    for side, latencies in part.response.items():
        for label in labels:
            yield (
                at.side(side)
                .response(label)
                .estimate(
                    quantity(latencies, label),
                    f"{table}, histogram of response time, from the scheduled time",
                )
            )


def _open(at: metrics.StorageLoad, load: Load, point: Point) -> Iterable[Estimate]:
    if load.rate is not None:
        yield at.offered_iops.estimate(
            load.rate, "the plan; scheduled I/Os per second of the jobs with a rate"
        )
    late, unissued = (sum(row[key] or 0 for row in point.rows) for key in ("late", "unissued"))
    if point.operations:
        yield at.late_percent.estimate(
            100 * late / point.operations,
            f"{TABLE}; share of completed I/Os issued more than 1 ms late",
        )
    yield at.unissued.estimate(
        unissued, f"{TABLE}; due and never issued because the queue was full"
    )
