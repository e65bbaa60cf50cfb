"""Time series, downsampled for plots."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from dyno.bundle import mixes
from dyno.bundle.machines import at, split
from dyno.bundle.model import those
from dyno.bundle.phases.oltp import OltpDetail
from dyno.bundle.reader import Bundle
from dyno.bundle.series import Key, ended, readings

if TYPE_CHECKING:
    import pyarrow as pa

MOST_POINTS = 600


@dataclass
class Series:
    """A time series: seconds since the start of the run, and values."""

    seconds: list[float] = field(default_factory=list[float])
    values: list[float] = field(default_factory=list[float])


def sampled(
    bundle: Bundle, wanted: Sequence[tuple[str, str]], machine: str = ""
) -> dict[Key, Series]:
    """Sampled series of the wanted sources and metrics of a machine, for all subjects."""
    start = bundle.run.clock.unix_ns
    series: dict[Key, Series] = {}
    for (source, subject, metric), t_ns, value, _ in readings(
        _of(bundle.table("samples"), wanted, machine)
    ):
        probe, sampled_on = split(source)
        if sampled_on == machine and (probe, metric) in wanted:
            one = series.setdefault((probe, subject, metric), Series())
            one.seconds.append((t_ns - start) / 1e9)
            one.values.append(value)
    return {key: thinned(one) for key, one in series.items()}


def _of(samples: pa.Table, wanted: Sequence[tuple[str, str]], machine: str) -> pa.Table:
    """The samples of the wanted sources: a day of all of them would fill the memory."""
    import pyarrow as pa
    import pyarrow.compute

    pc: Any = pyarrow.compute
    sources = pa.array(sorted({at(source, machine) for source, _ in wanted}), pa.string())
    return samples.filter(pc.is_in(samples.column("source"), value_set=sources))


def thinned(series: Series, most: int = MOST_POINTS) -> Series:
    """Downsamples to at most ``most`` means of equal length."""
    count = len(series.values)
    if count <= most:
        return series
    size = math.ceil(count / most)
    cuts = range(0, count, size)
    return Series(
        [_mean(series.seconds[at : at + size]) for at in cuts],
        [_mean(series.values[at : at + size]) for at in cuts],
    )


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _filled(rates: dict[int, float], step: int) -> dict[int, float]:
    """Adds zeros at both ends of each gap: intervals without completions have no row."""
    moments = sorted(rates)
    for one, following in pairwise(moments):
        if step and following - one > 1.5 * step:
            rates[one + step] = rates[following - step] = 0.0
    return rates


def _rates(bundle: Bundle, level: str) -> tuple[dict[int, float], int]:
    """Transactions per second of a level by the start of each interval, and its length in ns."""
    columns = ["t_ns", "seconds", "done", "rolled_back"]
    done, lengths = ended(bundle.table(f"ops/{level}").select(columns).to_pylist())
    step = round(max(lengths.values(), default=0.0) * 1e9)
    return _filled({at: done[at] / lengths[at] for at in done if lengths[at]}, step), step


def _added(series: Sequence[tuple[dict[int, float], int]]) -> dict[int, float]:
    """The sum of concurrent series, in the intervals of the first that has any."""
    known = [(rates, step) for rates, step in series if rates and step]
    if len(known) < 2:
        return known[0][0] if known else {}
    first, step = min(known[0][0]), known[0][1]
    total: dict[int, float] = {}
    for rates, _ in known:
        for start, rate in rates.items():
            moment = first + round((start - first) / step) * step
            total[moment] = total.get(moment, 0.0) + rate
    return total


def throughput(bundle: Bundle) -> Series:
    """Transactions per second over all load levels with warm-ups; gaps are zero.

    Levels at the same time add up.
    """
    start = bundle.run.clock.unix_ns
    series = Series()
    phases = those(bundle.run.phases, OltpDetail)
    parts = {phase.detail.level for phase in phases if phase.detail.database is not None}
    windows = mixes.names(bundle.run)
    place = {phase.detail.level: windows.get(phase.name, phase.name) for phase in phases}
    groups: dict[str, list[str]] = {}
    for level in bundle.levels():
        if level not in parts:  # the sum of all databases is there, too
            groups.setdefault(place.get(level, level), []).append(level)
    for levels in groups.values():
        rates = _added([_rates(bundle, level) for level in levels])
        moments = sorted(rates)
        if not moments:
            continue
        # A level starts and ends at zero, so that no line connects it to the next.
        edge = 1_000_000
        points = [(moments[0] - edge, 0.0), *((at, rates[at]) for at in moments)]
        points.append((moments[-1] + edge, 0.0))
        series.seconds += [(at - start) / 1e9 for at, _ in points]
        series.values += [value for _, value in points]
    return thinned(series)
