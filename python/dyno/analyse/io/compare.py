"""Comparisons of volume sets, scaling efficiency, and the cost of a full volume."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

from dyno.analyse.io.best import best
from dyno.analyse.io.places import Curve
from dyno.bundle import metrics
from dyno.bundle.model import Estimate, Run
from dyno.profiles.volume_sets import FilledSet, how
from dyno.statistics import student

_Bests = Callable[[FilledSet[Curve], int | None], float | None]
"""The best value of a place over all repeats, or in one repeat."""


def comparison(run: Run, places: Sequence[FilledSet[Curve]]) -> Iterable[Estimate]:
    """Ratios of best values between volume sets, and changes with the fill level, per curve."""
    way = how(run)
    yield from _fills(places)
    by_stage: dict[int, list[FilledSet[Curve]]] = {}
    for place in places:
        by_stage.setdefault(place.stage.index, []).append(place)
    for volume_sets in by_stage.values() if way in {"compare", "scaling"} else ():
        first = volume_sets[0]
        for place in volume_sets[1:]:
            for curve in place.curves:
                bests = _bests(curve.name)
                at = metrics.Compared(way, place.volume_set.label, place.stage.key, curve.name)
                yield from _ratio(at, place, first, bests)
                if way == "scaling":
                    yield from _efficiency(at, place, volume_sets, bests)


def _fills(places: Sequence[FilledSet[Curve]]) -> Iterable[Estimate]:
    """Changes against the first fill level of the same volume set."""
    for place in places:
        first = next(other for other in places if other.volume_set is place.volume_set)
        for curve in place.curves if place is not first else ():
            found = _against(place, first, _bests(curve.name))
            if found is not None:
                value, low, high, times = found
                yield place.metrics.curve(curve.name).best_change_percent.estimate(
                    100 * (value - 1),
                    low=None if low is None else 100 * (low - 1),
                    high=None if high is None else 100 * (high - 1),
                    source=f"best against that at {first.stage.label} full{_interval(times)}",
                )


def _ratio(
    at: metrics.Compared, place: FilledSet[Curve], first: FilledSet[Curve], bests: _Bests
) -> Iterable[Estimate]:
    found = _against(place, first, bests)
    if found is not None:
        value, low, high, times = found
        yield at.ratio.estimate(
            value,
            f"best, divided by that of {first.volume_set.label}{_interval(times)}",
            low=low,
            high=high,
        )


def _efficiency(
    at: metrics.Compared,
    place: FilledSet[Curve],
    volume_sets: Sequence[FilledSet[Curve]],
    bests: _Bests,
) -> Iterable[Estimate]:
    """The best of several volumes at once, in % of full scaling."""
    first = volume_sets[0]
    alone = [
        next((other for other in volume_sets if other.volume_set.members == (member,)), None)
        for member in place.volume_set.members
    ]
    known = [other for other in alone if other is not None]
    if len(known) == len(alone):
        source = "the sum of the bests of its volumes alone"

        def expected(repeat: int | None) -> float | None:
            values = [bests(other, repeat) for other in known]
            return None if None in values else sum(filter(None, values))
    else:
        times_more = len(place.volume_set.members) / len(first.volume_set.members)
        source = f"{times_more:g} times the best of {first.volume_set.label}"

        def expected(repeat: int | None) -> float | None:
            one = bests(first, repeat)
            return None if one is None else one * times_more

    found = _quotient(bests, place, expected)
    if found is not None:
        value, low, high, times = found
        yield at.efficiency_percent.estimate(
            100 * value,
            f"best, in % of {source}{_interval(times)}",
            low=None if low is None else 100 * low,
            high=None if high is None else 100 * high,
        )


def _bests(curve: str) -> _Bests:
    def value(place: FilledSet[Curve], repeat: int | None) -> float | None:
        own = place.curve(curve)
        if own is None:
            return None
        found = best(own if repeat is None else own.of_repeat(repeat), place.volume_set.ceiling)
        return None if found is None else found.value

    return value


_Quotient = tuple[float, float | None, float | None, int]
"""A quotient, the bounds of its 95 % interval, and the number of repeats."""


def _against(place: FilledSet[Curve], other: FilledSet[Curve], bests: _Bests) -> _Quotient | None:
    return _quotient(bests, place, lambda repeat: bests(other, repeat))


def _quotient(
    bests: _Bests, place: FilledSet[Curve], expected: Callable[[int | None], float | None]
) -> _Quotient | None:
    """Divides a best value by the expected one; adds a 95 % interval if there are repeats.

    The volume sets of a repeat are measured close together, so each repeat gives its own
    quotient. The interval is Student's t on the mean of their logarithms, placed around the
    quotient over all repeats.

    Returns:
        None if either has no best.
    """
    whole, against = bests(place, None), expected(None)
    if not whole or not against:
        return None
    value = whole / against
    repeats = sorted({repeat for curve in place.curves for repeat in curve.repeats})
    if len(repeats) < 2:
        return value, None, None, 0
    pairs = [(bests(place, repeat), expected(repeat)) for repeat in repeats]
    logs = [math.log(one / other) for one, other in pairs if one and other]
    half = student.half_width(logs)
    if half is None or half > math.log(1e6):
        return value, None, None, 0
    return value, value * math.exp(-half), value * math.exp(half), len(logs)


def _interval(times: int) -> str:
    return f"; 95 % t interval of the logarithm over {times} repeats" if times else ""
