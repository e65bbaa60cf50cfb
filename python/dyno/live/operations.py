"""Operations in bins: rates, errors, latency percentiles and the heat map.

Percentiles come from merged histograms at every width of bins; they are never averaged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dyno.bundle.histograms import bounds, counted, slots_of
from dyno.live.bins import FACTOR, LEVELS, NS, Array, Rows

QUANTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
ALL = ""
"""The name of all operations together."""

_MOST_BINS = 4096
_MOST_OPERATIONS = 64
_STRIDE = 1 << 16
"""More than a histogram has slots."""
_HELD = 64
"""Newest bins whose histograms are kept, because more rows of them may come."""

HEAT_ROWS = 56
HEAT_FIRST = 20
"""Rows of the heat map are half octaves; the first begins at 2^(HEAT_FIRST / 2) ns, about 1 µs."""

Sparse = tuple[Array, Array]
"""Slots of a histogram, ascending, and their counts."""


def heat_bounds_ms() -> list[float]:
    """Lower bounds of the rows of the heat map, and the upper bound of the last, in ms."""
    return [2 ** ((HEAT_FIRST + row) / 2) / 1e6 for row in range(HEAT_ROWS + 1)]


@dataclass(frozen=True)
class Completed:
    """Rows of work that ended, one entry each.

    Attributes:
        t_ns: Start of the interval, or end of the query.
        seconds: Length of the interval; 0 for a single query.
        done: Operations that succeeded, prescribed rollbacks included.
        errors: Operations that failed.
        latencies: Place, slot and count (``dyno.bundle.histograms.counted``).
    """

    t_ns: Array
    seconds: Array
    done: Array
    errors: Array
    latencies: tuple[Array, Array, Array]

    def only(self, chosen: Array) -> Completed:
        """The chosen rows (a mask)."""
        place, slot, count = self.latencies
        fits = chosen[place]
        new = np.cumsum(chosen) - 1
        return Completed(
            self.t_ns[chosen],
            self.seconds[chosen],
            self.done[chosen],
            self.errors[chosen],
            (new[place[fits]], slot[fits], count[fits]),
        )


def of_histograms(
    t_ns: Array, seconds: Array, done: Array, errors: Array, encoded: Sequence[str | None]
) -> Completed:
    """Rows of intervals with a stored histogram each.

    Raises:
        UsageError: If a histogram is damaged.
    """
    return Completed(t_ns, seconds, done, errors, counted(encoded))


def of_queries(end_ns: Array, seconds: Array, failed: Array) -> Completed:
    """Single queries by their end; those that failed have no latency."""
    place = np.flatnonzero(~failed & (seconds > 0))
    latencies = (place, slots_of(seconds[place] * NS), np.ones(len(place), np.int64))
    nothing = np.zeros(len(end_ns))
    return Completed(end_ns, nothing, (~failed).astype(float), failed.astype(float), latencies)


@dataclass
class Operation:
    """One operation over time."""

    levels: list[Rows] = field(default_factory=list[Rows])
    held: list[dict[int, Sparse]] = field(default_factory=list[dict[int, Sparse]])
    whole: Sparse = field(default_factory=lambda: (np.empty(0, np.int64), np.empty(0, np.int64)))
    done: float = 0.0
    errors: float = 0.0

    def __post_init__(self) -> None:
        number: tuple[tuple[int, ...], Any, float] = ((), np.float32, 0.0)
        unknown: tuple[tuple[int, ...], Any, float] = ((), np.float32, np.nan)
        columns = {
            **dict.fromkeys(("done", "errors", "seconds"), number),
            **dict.fromkeys(QUANTILES, unknown),
            "heat": ((HEAT_ROWS,), np.uint32, 0),
        }
        for _ in range(LEVELS):
            self.levels.append(Rows(_MOST_BINS, **columns))
            self.held.append({})

    def add(self, rows: Completed, origin_ns: int) -> None:
        """Adds rows; their order in time may differ by at most :data:`_HELD` bins."""
        bins = (rows.t_ns - origin_ns) // NS
        place, slot, count = rows.latencies
        key = bins[place] * _STRIDE + slot
        self.done += float(rows.done.sum())
        self.errors += float(rows.errors.sum())
        self.whole = merged(self.whole, (slot, count))
        for level, of_level in enumerate(self.levels):
            row, kept = of_level.place(bins)
            for name in ("done", "errors", "seconds"):
                np.add.at(of_level.arrays[name], row[kept], getattr(rows, name)[kept])
            key, count = summed(key, count)
            self._histograms(level, key // _STRIDE, key % _STRIDE, count)
            if level + 1 < LEVELS:
                bins = bins // FACTOR
                key = key // _STRIDE // FACTOR * _STRIDE + key % _STRIDE

    def _histograms(self, level: int, bins: Array, slots: Array, counts: Array) -> None:
        """Merges the new counts of each bin with those that it has, and derives its values."""
        held, rows = self.held[level], self.levels[level]
        # The histogram of an older bin is gone: a part of it would be wrong.
        fresh = bins >= max(held, default=0) - _HELD
        again = [(at, *held[at]) for at in np.unique(bins[fresh]).tolist() if at in held]
        key = bins[fresh] * _STRIDE + slots[fresh]
        key = np.concatenate([key, *(at * _STRIDE + slot for at, slot, _ in again)])
        key, counts = summed(key, np.concatenate([counts[fresh], *(one[2] for one in again)]))
        if not len(key):
            return
        bins, slots = key // _STRIDE, key % _STRIDE
        starts = np.flatnonzero(np.diff(bins, prepend=bins[0] - 1))
        ends = np.append(starts[1:], len(bins))
        row = bins[starts] - rows.first
        kept = row >= 0
        for name, high in _percentiles(slots, counts, starts, ends).items():
            rows.arrays[name][row[kept]] = high[kept]
        of_bin = np.repeat(np.arange(len(starts)), ends - starts)
        cells = of_bin * HEAT_ROWS + _heat_rows(slots)
        heat = np.bincount(cells, counts, len(starts) * HEAT_ROWS).reshape(-1, HEAT_ROWS)
        rows.arrays["heat"][row[kept]] = heat[kept]
        for start, end in list(zip(starts.tolist(), ends.tolist(), strict=True))[-_HELD:]:
            held[int(bins[start])] = (slots[start:end].copy(), counts[start:end].copy())
        for at in sorted(held)[:-_HELD]:
            del held[at]

    def quantiles_ms(self) -> dict[str, float]:
        """Percentiles of the whole run in ms; empty without latencies."""
        return percentiles(self.whole)


def percentiles(found: Sparse) -> dict[str, float]:
    """Percentiles of a histogram in ms; empty without latencies."""
    if not len(found[0]):
        return {}
    whole = _percentiles(*found, np.array([0]), np.array([len(found[0])]))
    return {name: float(values[0]) for name, values in whole.items()}


def _percentiles(slots: Array, counts: Array, starts: Array, ends: Array) -> dict[str, Array]:
    """Percentiles in ms of several histograms, one after the other in the arrays.

    Each is the value of rank ⌈q·n⌉ at the upper bound of its slot, as the engines print it.
    """
    up_to = np.cumsum(counts)
    before = up_to[starts] - counts[starts]
    total = up_to[ends - 1] - before
    return {
        name: bounds(slots[np.searchsorted(up_to, before + np.ceil(share * total).clip(1))])[1]
        / 1e6
        for name, share in QUANTILES.items()
    }


class Operations:
    """All operations of a run, and their sum."""

    def __init__(self, origin_ns: int) -> None:
        self.origin_ns = origin_ns
        self.by_name: dict[str, Operation] = {}
        self.last_ns = 0

    def add(self, names: Sequence[str | None], codes: Array, rows: Completed) -> None:
        """Adds rows; ``names[codes[i]]`` is the operation of row i."""
        fine = rows.t_ns > 0
        for code in np.unique(codes[fine]).tolist():
            name = names[code]
            known = name is not None and (
                name in self.by_name or len(self.by_name) <= _MOST_OPERATIONS
            )
            if name and known:
                operation = self.by_name.setdefault(name, Operation())
                operation.add(rows.only(fine & (codes == code)), self.origin_ns)
        if fine.any():
            self.by_name.setdefault(ALL, Operation()).add(rows.only(fine), self.origin_ns)
            ends = rows.t_ns[fine] + (rows.seconds[fine] * NS).astype(np.int64)
            self.last_ns = max(self.last_ns, int(ends.max()))

    @property
    def names(self) -> list[str]:
        """Names of the operations, the most frequent first."""
        known = [name for name in self.by_name if name != ALL]
        return sorted(known, key=lambda name: -self.by_name[name].done)

    def values(self, name: str, what: str, level: int, start: int, count: int) -> Array:
        """``p50``, ``heat`` … of an operation in ``count`` bins; NaN or 0 where nothing ended."""
        operation = self.by_name.get(name)
        if operation is None:
            shape = (count, HEAT_ROWS) if what == "heat" else (count,)
            return np.full(shape, 0 if what == "heat" else np.nan, np.float32)
        return operation.levels[level].slice(what, start, count)

    def rates(self, name: str, level: int, start: int, count: int) -> Array:
        """Completed operations per s in ``count`` bins; NaN where there was no interval."""
        if name == ALL:
            parts = [self.rates(one, level, start, count) for one in self.by_name if one != ALL]
            every = np.array(parts or [np.full(count, np.nan, np.float32)])
            empty = np.isnan(every).all(axis=0)
            return np.where(empty, np.nan, np.nansum(every, axis=0)).astype(np.float32)
        done = self.values(name, "done", level, start, count)
        seconds = self.values(name, "seconds", level, start, count)
        # Single queries have no interval: their rate is over the bin.
        seconds = np.where((seconds <= 0) & (done > 0), FACTOR**level, seconds)
        found = np.full(count, np.nan, np.float32)
        np.divide(done, seconds, out=found, where=seconds > 0)
        return found

    def covers(self, level: int, bin_: int) -> bool:
        """Whether the level still holds this bin."""
        every = self.by_name.get(ALL)
        return every is None or every.levels[level].covers(bin_)


def merged(one: Sparse, other: Sparse) -> Sparse:
    """The sum of two histograms."""
    return summed(np.concatenate([one[0], other[0]]), np.concatenate([one[1], other[1]]))


def summed(keys: Array, counts: Array) -> Sparse:
    """Counts of equal keys added up, keys ascending."""
    if not len(keys):
        return keys, counts
    order = np.argsort(keys, kind="stable")
    keys, counts = keys[order], counts[order]
    starts = np.flatnonzero(np.diff(keys, prepend=keys[0] - 1))
    return keys[starts], np.add.reduceat(counts, starts)


def _heat_rows(slots: Array) -> Array:
    """The row of the heat map of each slot."""
    low, high = bounds(slots)
    half_octaves = np.floor(2 * np.log2((low + high) / 2)).astype(np.int64)
    return (half_octaves - HEAT_FIRST).clip(0, HEAT_ROWS - 1)
