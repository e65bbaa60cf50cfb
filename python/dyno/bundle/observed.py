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

from dyno.bundle.flash import SOURCE as FLASH
from dyno.bundle.flash import Flash
from dyno.bundle.inside import FILES, SOURCE, WAITING, Files, Inside
from dyno.bundle.machines import split
from dyno.bundle.series import Key, readings

if TYPE_CHECKING:
    import pyarrow as pa

_SECOND_NS = 1_000_000_000
_REQUESTS = ("read_iops", "write_iops")
_COUNTED_BY: dict[tuple[str, str], tuple[str, ...]] = {
    ("disk", "read_await"): ("read_iops",),
    ("disk", "write_await"): ("write_iops",),
    ("disk", "read_size"): ("read_iops",),
    ("disk", "write_size"): ("write_iops",),
    ("disk", "io_size"): _REQUESTS,
    ("disk", "read_share"): _REQUESTS,
    ("network", "retransmitted"): ("segments_out",),
    **{(SOURCE, one): (one.per,) for one in Inside if one.per},
    **{(FILES, one): (one.per,) for one in Files if one.per},
    **{(FLASH, one): (one.per,) for one in Flash if one.per},
}
"""By source and metric: rate metrics of the same subject that provide the weight of a mean."""

_MISSED: Key = ("dyno", "sampler", "missed_ticks")
"""On another machine its source has the machine's name, too."""


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
    return _COUNTED_BY.get((split(source).probe.removeprefix("nested_"), metric), ())


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
    _fill_sessions(values)
    of_machine = {
        machine: _lengths_of(
            {key: of for key, of in values.items() if _machine(key) == machine},
            {
                key[1]: of
                for key, of in values.items()
                if _machine(key) == machine and split(key[0]).probe == _MISSED[0]
            },
        )
        for machine in dict.fromkeys(map(_machine, values))
    }
    found: dict[Key, Series] = {}
    for key, one in values.items():
        source, subject, metric = key
        lengths = of_machine[_machine(key)][_reader(key)]
        counts_of_it = counted_by(source, metric)
        counts = [values.get((source, subject, name), {}) for name in counts_of_it]
        found[key] = Series(
            units[key],
            [_reading(t_ns, value, lengths[t_ns], counts) for t_ns, value in one.items()],
        )
    return found


def _fill_sessions(values: dict[Key, dict[int, float]]) -> None:
    """Adds the zeros of waits: a reading omits the events in which no session was."""
    every: dict[tuple[str, str], dict[int, float]] = {}
    for (source, subject, _), one in values.items():
        if split(source).probe in WAITING:
            every.setdefault((source, subject), {}).update(dict.fromkeys(one, 0.0))
    for key, one in values.items():
        if split(key[0]).probe in WAITING:
            values[key] = dict(sorted({**every[key[0], key[1]], **one}.items()))


def _lengths_of(
    values: Mapping[Key, Mapping[int, float]], missed_by: Mapping[str, Mapping[int, float]]
) -> dict[str, dict[int, int]]:
    """Returns the time that each reading of a machine covers, by probe and time of the reading.

    Args:
        values: The series.
        missed_by: Missed readings by their time: of the sampler, and of each probe that is read at
            times of its own.
    """
    missed = missed_by.get(_MISSED[1], {})
    times: dict[str, set[int]] = {}
    for key, one in values.items():
        times.setdefault(_reader(key), set()).update(one)
    apart = {reader for reader, read in times.items() if missed and not read & missed.keys()}
    ticks = {t_ns for reader, read in times.items() if reader not in apart for t_ns in read}
    of_ticks = _lengths(ticks, missed)
    return {
        reader: _lengths(read, missed_by.get(reader, {})) if reader in apart else of_ticks
        for reader, read in times.items()
    }


def _machine(key: Key) -> str:
    return split(key[0]).machine


def _reader(key: Key) -> str:
    """Returns the probe of a series: its source, except for counters of missed readings."""
    probe = split(key[0]).probe
    return key[1] if probe == _MISSED[0] else probe


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
