"""The best point of a curve: highest MB/s, or highest IOPS within the ceiling."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from dyno.analyse.io.loads import MB, rate
from dyno.analyse.io.places import Curve
from dyno.analyse.io.point import Point
from dyno.bundle import metrics
from dyno.bundle.metrics.io import Quantity, Rate
from dyno.bundle.model import Estimate
from dyno.profiles.volume_sets import Ceiling, Load


@dataclass(frozen=True)
class Best:
    """The load of a curve with the highest value.

    Attributes:
        bound: Whether only loads within the ceiling counted.
        confirmed: Number of confirmation windows after a search; None if the load was not
            searched.
    """

    load: Load
    point: Point
    metric: Rate
    bound: bool
    confirmed: int | None

    @property
    def value(self) -> float:
        """IOPS, or MB/s for a bandwidth curve."""
        return self.point.mbps if self.metric == "mbps" else self.point.iops


def best(curve: Curve, ceiling: Ceiling) -> Best | None:
    """Returns the highest point of a curve, at the lowest load if equal; None if no load counts.

    Loads with failed I/Os do not count. Loads outside the ceiling count only for MB/s curves with
    listed loads. In a search, confirmed loads come first, because the maximum of many single
    windows is biased upwards.
    """
    bound = curve.metric == "iops" or curve.searched
    counted = {
        load: point
        for load, point in curve.points.items()
        if not point.errors and (not bound or point.inside(ceiling))
    }
    if not counted:
        return None
    confirmed = {load: point for load, point in counted.items() if _confirming(point)}
    among = confirmed or counted
    load = max(
        among,
        key=lambda load: among[load].mbps if curve.metric == "mbps" else among[load].iops,
    )
    point = among[load]
    return Best(load, point, curve.metric, bound, _confirming(point) if curve.searched else None)


def _confirming(point: Point) -> int:
    """The number of confirmation windows that passed."""
    return sum(
        row["purpose"] == "confirm" and row["inside_ceiling"] is not False for row in point.rows
    )


def best_estimates(at: metrics.Curve, curve: Curve, ceiling: Ceiling) -> Iterable[Estimate]:
    """``best_iops`` or ``best_mbps``, with its load and latency."""
    found = best(curve, ceiling)
    if found is None:
        return
    load, point = found.load, found.point
    yield rate(at.best_value(found.metric), point).model_copy(
        update={"source": _source(found, ceiling)}
    )
    yield at.best_depth.estimate(load.depth, "queue depth")
    if load.by_rate and load.rate is not None:
        yield at.best_rate.estimate(load.rate, "I/Os due in a second")
    both: tuple[Quantity, ...] = ("p95", ceiling.of)
    for of in dict.fromkeys(both):
        yield at.best(of).estimate(
            point.slowest_ms(of),
            f"{of} at that load of {_times(point)}, the slowest of {_sides(point)}{_lanes(point)}",
        )
    if found.confirmed is not None:
        yield at.best_confirmed.estimate(
            found.confirmed, "windows measured at that load after the search"
        )


def _source(found: Best, ceiling: Ceiling) -> str:
    point, load = found.point, found.load
    at = f"queue depth {load.depth}"
    if load.by_rate and load.rate is not None:
        at = f"a rate of {load.rate:g}/s"
    words = [f"highest of the curve, at {at}", MB]
    if found.bound:
        of = ceiling.of
        sides = f"{of} of reads and {of} of writes"
        if point.syncs:
            sides = f"{of} of reads, of writes and of syncs"
        if point.is_open:
            sides += " by response time"
        every = " and for every job on every volume" if len(point.lanes) > 1 else ""
        words = [f"highest with {sides}, each separately{every}, at most {ceiling.ms:g} ms"]
        words += [f"at {at}", *([MB] if found.metric == "mbps" else [])]
    if point.windows > 1:
        words.append(f"95 % t interval over {point.windows} windows")
    return "; ".join(words)


def _times(point: Point) -> str:
    return "response time" if point.is_open else "service time"


def _sides(point: Point) -> str:
    return "reads, writes and syncs" if point.syncs else "reads and writes"


def _lanes(point: Point) -> str:
    return " of any job on any volume" if len(point.lanes) > 1 else ""
