"""Probe samples and their weighted mean, which all outputs share.

A reading covers the time since the previous tick, which may differ from one second. The mean
weights it:

* by the length of that time, for rates, shares of time and queues: Σ requests / Σ seconds, Σ busy
    ms / Σ ms;
* by the count in it, for means per request and shares of a count: Σ ms / Σ requests, Σ bytes / Σ
    requests. A slow second with few requests has little weight.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from dyno.bundle.inside import SOURCE, Inside
from dyno.bundle.series import Key, readings

if TYPE_CHECKING:
    import pyarrow as pa

_SECOND_NS = 1_000_000_000
_REQUESTS = ("read_iops", "write_iops")
_COUNTED_BY: dict[tuple[str, str], tuple[str, ...]] = {
    ("disk", "read_await"): ("read_iops",),
    ("disk", "write_await"): ("write_iops",),
    ("disk", "io_size"): _REQUESTS,
    ("disk", "read_share"): _REQUESTS,
    ("network", "retransmitted"): ("segments_out",),
    **{(SOURCE, one): (one.per,) for one in Inside if one.per},
}
"""By source and metric: rate metrics of the same subject that provide the weight of a mean."""

_MISSED: Key = ("dyno", "sampler", "missed_ticks")


class Reading(NamedTuple):
    """A value of the time from ``start_ns`` to ``t_ns`` (ns since the Unix epoch).

    Attributes:
        weight: Seconds, or the count in them.
    """

    start_ns: int
    t_ns: int
    value: float
    weight: float


@dataclass
class Series:
    """Readings over time, in sampling order."""

    unit: str
    readings: list[Reading] = field(default_factory=list[Reading])

    def between(self, start_ns: int, end_ns: int) -> list[Reading]:
        """Returns readings that mostly fall between ``start_ns`` and ``end_ns``."""
        return [one for one in self.readings if start_ns <= (one.start_ns + one.t_ns) // 2 < end_ns]


def counted_by(source: str, metric: str) -> tuple[str, ...]:
    """The rates of the same subject that weight the mean of a metric; empty: time does.

    ``source`` may be that of another machine (``disk@db1``) or of nested devices.
    """
    return _COUNTED_BY.get((source.partition("@")[0].removeprefix("nested_"), metric), ())


def mean(found: Iterable[Reading]) -> float | None:
    """Returns the weighted mean; None without readings.

    Readings without counts, as in bundles that lack them, are weighted by time.
    """
    listed = list(found)
    weights = [one.weight for one in listed]
    if not sum(weights) > 0:
        weights = [float(one.t_ns - one.start_ns) for one in listed]
    whole = sum(weights)
    if not whole > 0:
        return None
    return sum(w * one.value for w, one in zip(weights, listed, strict=True)) / whole


def sampled(samples: pa.Table) -> dict[Key, Series]:
    """Returns every sampled series, in order of first appearance."""
    values: dict[Key, dict[int, float]] = {}
    units: dict[Key, str] = {}
    for key, t_ns, value, unit in readings(samples):
        values.setdefault(key, {})[t_ns] = value
        units[key] = unit
    missed = values.get(_MISSED, {})
    times: dict[str, set[int]] = {}
    for key, one in values.items():
        times.setdefault(_reader(key), set()).update(one)
    apart = {reader for reader, read in times.items() if missed and not read & missed.keys()}
    ticks = {t_ns for reader, read in times.items() if reader not in apart for t_ns in read}
    of_ticks = _lengths(ticks, missed)
    found: dict[Key, Series] = {}
    for key, one in values.items():
        source, subject, metric = key
        reader = _reader(key)
        lengths = _lengths(times[reader], {}) if reader in apart else of_ticks
        counts_of_it = counted_by(source, metric)
        counts = [values.get((source, subject, name), {}) for name in counts_of_it]
        found[key] = Series(
            units[key],
            [_reading(t_ns, value, lengths[t_ns], counts) for t_ns, value in one.items()],
        )
    return found


def _reader(key: Key) -> str:
    """Returns the probe of a series: its source, except for counters of missed readings."""
    return key[1] if key[0] == _MISSED[0] else key[0]


def _reading(
    t_ns: int, value: float, length_ns: int, counts: Iterable[Mapping[int, float]]
) -> Reading:
    seconds = length_ns / _SECOND_NS
    listed = list(counts)
    weight = seconds * sum(one.get(t_ns, 0.0) for one in listed) if listed else seconds
    return Reading(t_ns - length_ns, t_ns, value, weight)


def _lengths(ticks: Iterable[int], missed: Mapping[int, float]) -> dict[int, int]:
    """Returns the time that the readings of each tick cover: since the previous tick.

    A gap longer than the missed ticks explain is a gap in writing: the counters were still read.
    The first tick, and the tick after such a gap, covers about one second.
    """
    lengths: dict[int, int] = {}
    before: int | None = None
    for t_ns in sorted(ticks):
        gap = _SECOND_NS if before is None else t_ns - before
        # A late tick covers up to one second more than its number of ticks.
        longest = round((2 + max(0.0, missed.get(t_ns, 0.0))) * _SECOND_NS)
        lengths[t_ns] = gap if gap < longest else longest - _SECOND_NS
        before = t_ns
    return lengths
