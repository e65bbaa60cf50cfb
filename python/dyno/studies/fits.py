"""Scaling of metrics with numeric factors: exponents, and the universal scalability law."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from dyno.statistics import scaling, usl
from dyno.statistics.paired import Floats, location
from dyno.statistics.scaling import Exponent
from dyno.studies.metrics import owner
from dyno.studies.model import Study, Value, Variant
from dyno.studies.outcome import Fit, Parameter, Point
from dyno.studies.pairs import Valid, adjusted_in_families, grouped, metric_names, sound

COUNTS = {"users", "streams", "parallelism", "cpus", "cpu", "databases", "jobs", "depth", "spread"}
"""Last words of factors that count concurrency, which the scalability law applies to."""

_SHARES = {"fill"}
"""Factors that are fill levels: proportional growth of a rate with them is of no interest."""

_FEWEST_BLOCKS = 2
_OFF = 0.1
"""Minimum deviation of a point from the curve to be reported, if also outside its interval."""


@dataclass(frozen=True)
class _Series:
    """A metric over the levels of a factor, the others fixed."""

    metric: str
    headline: bool
    factor: str
    at: dict[str, Value]
    levels: list[float]
    table: Floats

    @property
    def key(self) -> str:
        return "\0".join((self.metric, self.factor, repr(self.at)))


def fits(study: Study, valid: Valid) -> tuple[tuple[Fit, ...], tuple[str, ...]]:
    """Fits each metric over each factor with three numeric levels, with notes on missing fits."""
    asked: list[_Series] = []
    notes: list[tuple[str, str]] = []
    for factor, at, variants in _lines(study):
        for metric, headline in metric_names(study, valid.values()):
            levels, table = _table(valid, variants, metric)
            if len(levels) < scaling.FEWEST_LEVELS:
                words = " ".join(f"{key}={value}" for key, value in at.items())
                where = f" at {words}" if words else ""
                notes.append((metric, f"too few runs to fit scaling with {factor}{where}"))
                continue
            asked.append(_Series(metric, headline, factor, at, levels, table))
    together = Counter(one.headline for one in asked)
    found = [
        (one, scaling.exponent(one.levels, one.table, together[one.headline])) for one in asked
    ]
    p = adjusted_in_families({(one.headline, one.key): what.p for one, what in found})
    made: list[Fit] = []
    for one, what in found:
        fit = _fit(one, what, p[one.key])
        if fit is None:
            notes.append((one.metric, f"too noisy to fit scaling with {one.factor}"))
        else:
            made.append(fit)
    return tuple(made), grouped(notes)


def _lines(study: Study) -> Iterator[tuple[str, dict[str, Value], dict[float, Variant]]]:
    """Each numeric factor, with the levels of the others and its variants by level."""
    known = [one for one in study.variants if set(study.factors) <= set(one.levels)]
    for factor in study.factors:
        if factor.rpartition(".")[2] in _SHARES:
            continue
        levels = {one.levels[factor] for one in known}
        numbers = {value for value in map(_number, levels) if value is not None}
        if len(numbers) < scaling.FEWEST_LEVELS or len(numbers) < len(levels):
            continue
        others = [name for name in study.factors if name != factor]
        grids = (dict.fromkeys(one.levels[name] for one in known) for name in others)
        for fixed in itertools.product(*grids):
            at = dict(zip(others, fixed, strict=True))
            own = [one for one in known if all(one.levels[name] == at[name] for name in others)]
            yield factor, at, {float(one.levels[factor]): one for one in own}


def _number(value: Value) -> float | None:
    if isinstance(value, bool | str) or not math.isfinite(value) or value <= 0:
        return None
    return float(value)


def _table(
    valid: Valid, variants: Mapping[float, Variant], metric: str
) -> tuple[list[float], Floats]:
    """Logarithms by block and level: complete blocks, and levels with at least two blocks.

    While fewer than two blocks are complete, the level missing in most blocks is dropped.
    """
    pairs = sorted({pair for pair, _ in valid})
    logs: dict[float, dict[int, float]] = {}
    for level, variant in sorted(variants.items()):
        runs = ((pair, valid.get((pair, variant.name))) for pair in pairs)
        values = ((pair, run and sound(run, metric)) for pair, run in runs)
        logs[level] = {pair: math.log(value) for pair, value in values if value}
    while logs:
        whole = [pair for pair in pairs if all(pair in own for own in logs.values())]
        if len(whole) >= _FEWEST_BLOCKS:
            table = [[own[pair] for own in logs.values()] for pair in whole]
            return list(logs), np.asarray(table, float)
        del logs[min(logs, key=lambda level: len(logs[level]))]
    return [], np.zeros((0, 0))


def _fit(one: _Series, found: Exponent, p: float) -> Fit | None:
    curve, parameters, notes = _curve(one)
    if found.bent and not curve:
        first, last = one.levels[:2], one.levels[-2:]
        notes.append(
            f"not one power law: the exponent is {_hundredths(found.first)} from {first[0]:g} to "
            f"{first[1]:g}, {_hundredths(found.last)} from {last[0]:g} to {last[1]:g}"
        )
    centre = float(np.log(one.levels).mean())
    height = float(one.table.mean())
    points: list[Point] = []
    for level, column in zip(one.levels, one.table.T, strict=True):
        where = location(column)
        fitted = curve.at(level) if curve else _exp(
            height + found.value * (math.log(level) - centre)
        )  # fmt: skip
        values = (_exp(where.centre), _exp(where.low), _exp(where.high), fitted)
        points.append(Point(x=level, y=values[0], low=values[1], high=values[2], fitted=fitted))
    numbers = [found.value, found.low, found.high, *(
        value for point in points for value in (point.y, point.low, point.high, point.fitted or 0)
    )]  # fmt: skip
    if not all(map(math.isfinite, numbers)):
        return None
    if curve:
        notes += _misses(points)
    return Fit(
        metric=one.metric,
        headline=one.headline,
        factor=one.factor,
        at=one.at,
        exponent=Parameter(value=found.value, low=found.low, high=found.high),
        linear=scaling.growth(found, p),
        tolerance=scaling.LINEAR,
        usl=parameters,
        points=tuple(points),
        note="; ".join(notes),
    )


def _hundredths(value: float) -> str:
    return f"{round(value, 2) + 0.0:.2f}"  # avoids -0.00


def _exp(value: float) -> float:
    return math.exp(value) if value < 700 else math.inf


def _curve(one: _Series) -> tuple[usl.Usl | None, dict[str, Parameter], list[str]]:
    """The scalability law with its parameters, if it applies, and a note."""
    counts = one.factor.rpartition(".")[2] in COUNTS
    if owner(one.metric).wish != "more" or not one.headline or not counts:
        return None, {}, []
    blocks, levels = one.table.shape
    if levels < usl.FEWEST_LEVELS or one.levels[0] < 1:
        return None, {}, []
    if blocks < usl.FEWEST_BLOCKS:
        return (
            None,
            {},
            [f"no scalability law: needs {usl.FEWEST_BLOCKS} pairs with all levels"],
        )
    found = usl.curve(one.levels, one.table)
    parameters = {
        name: Parameter(value=float(getattr(found.usl, name)), low=low, high=high)
        for name, (low, high) in found.intervals.items()
        if math.isfinite(high)
    }
    most, peak = one.levels[-1], found.usl.peak
    if "peak" not in parameters or peak > 2 * most:
        parameters.pop("peak", None)
        return found.usl, parameters, [f"no peak was observed up to {most:g}"]
    if not one.levels[0] <= peak <= most:
        measured = f"{one.levels[0]:g} to {most:g}"
        text = f"the peak at {peak:.3g} is outside the measured range, {measured}"
        return found.usl, parameters, [text]
    return found.usl, parameters, []


def _misses(points: Iterable[Point]) -> list[str]:
    off = [
        point for point in points
        if point.fitted and not point.low <= point.fitted <= point.high
        and abs(point.y / point.fitted - 1) > _OFF
    ]  # fmt: skip
    if not off:
        return []
    listed = ", ".join(
        f"{100 * abs(by):.0f} % {'above' if by > 0 else 'below'} it at {one.x:g}"
        for one in off
        for by in [one.y / (one.fitted or one.y) - 1]
    )
    return [f"the scalability law does not fit: the measurement is {listed}"]
