"""Operations in bins: rates, errors, latency percentiles and the heat map.

Percentiles come from merged histograms at every width of bins; they are never averaged.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from dyno import _core
from dyno.bundle.histograms import SLOTS, Spread, bounds, stored, used
from dyno.live.bins import FACTOR, LEVELS, NS, Array, Rows

if TYPE_CHECKING:
    import pyarrow as pa

QUANTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
ALL = ""
"""The name of all operations together."""

_MOST_BINS = 4096
_MOST_OPERATIONS = 64
HELD = 64
"""Newest bins whose histograms are kept, because more rows of them may come."""

HEAT_ROWS = 56
HEAT_FIRST = 20
"""Rows of the heat map are half octaves; the first begins at 2^(HEAT_FIRST / 2) ns, about 1 µs."""


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
        rows: The place of their latencies in ``histograms``.
    """

    t_ns: Array
    seconds: Array
    done: Array
    errors: Array
    rows: Array
    histograms: _core.Histograms

    def only(self, chosen: Array) -> Completed:
        """The chosen rows (a mask)."""
        return Completed(
            self.t_ns[chosen],
            self.seconds[chosen],
            self.done[chosen],
            self.errors[chosen],
            self.rows[chosen],
            self.histograms,
        )


def of_histograms(
    t_ns: Array, seconds: Array, done: Array, errors: Array, column: pa.Array[Any]
) -> Completed:
    """Rows of intervals with a stored histogram each.

    Raises:
        UsageError: If a histogram is damaged.
    """
    histograms, rows = stored(column)
    return Completed(t_ns, seconds, done, errors, rows, histograms)


def of_queries(end_ns: Array, seconds: Array, failed: Array) -> Completed:
    """Single queries by their end; those that failed have no latency."""
    latency_ns = np.where(failed, 0, (seconds * NS).clip(0, 1e18)).astype(np.int64)
    none = np.zeros(len(end_ns))
    done, errors = (~failed).astype(float), failed.astype(float)
    histograms = _core.Histograms.single(latency_ns)
    return Completed(end_ns, none, done, errors, np.arange(len(end_ns)), histograms)


@cache
def _heat_rows() -> list[int]:
    """The row of the heat map of each slot."""
    low, high = bounds(np.arange(SLOTS))
    half_octaves = np.floor(2 * np.log2((low + high).clip(1) / 2)).astype(np.int64)
    return (half_octaves - HEAT_FIRST).clip(0, HEAT_ROWS - 1).tolist()


def _timeline() -> _core.Timeline:
    return _core.Timeline(FACTOR, LEVELS, _MOST_BINS, HELD, list(QUANTILES.values()), _heat_rows())


@dataclass
class Operation:
    """One operation over time."""

    levels: list[Rows] = field(default_factory=list[Rows])
    latencies: _core.Timeline = field(default_factory=_timeline)
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

    def add(self, rows: Completed, origin_ns: int, until_ns: int) -> _core.Sums:
        """Adds rows; their order in time may differ by at most :data:`HELD` bins.

        Returns:
            Sums of their latencies, for :meth:`add_sums`.
        """
        bins = (rows.t_ns - origin_ns) // NS
        newest = (until_ns - origin_ns) // NS
        latencies, sums = self.latencies.add(bins, rows.rows, rows.histograms, newest)
        self._add(rows, bins, latencies)
        return sums

    def add_sums(self, rows: Completed, sums: Sequence[_core.Sums], origin_ns: int) -> None:
        """Adds rows whose latencies other operations have added up."""
        self._add(rows, (rows.t_ns - origin_ns) // NS, self.latencies.add_sums(sums))

    def _add(
        self, rows: Completed, bins: Array, latencies: Sequence[tuple[bytes, bytes, bytes]]
    ) -> None:
        self.done += float(rows.done.sum())
        self.errors += float(rows.errors.sum())
        for of_level, of_bins in zip(self.levels, latencies, strict=True):
            row, kept = of_level.place(bins)
            for name in ("done", "errors", "seconds"):
                sums = np.bincount(row[kept], getattr(rows, name)[kept])
                of_level.arrays[name][: len(sums)] += sums
            _set_latencies(of_level, *of_bins)
            bins = bins // FACTOR

    def quantiles_ms(self) -> dict[str, float]:
        """Percentiles of the whole run in ms; empty without latencies."""
        slots, counts = used(self.latencies.whole())
        if not len(slots):
            return {}
        whole = Spread(*bounds(slots), np.cumsum(counts))
        return {name: whole.quantile_ms(share) for name, share in QUANTILES.items()}


def _set_latencies(rows: Rows, bins: bytes, quantiles: bytes, heat: bytes) -> None:
    """Sets what a timeline derived from the histograms of these bins."""
    row = np.frombuffer(bins, np.int64) - rows.first
    kept = row >= 0
    slots = np.frombuffer(quantiles, np.uint16).astype(np.int64).reshape(-1, len(QUANTILES))
    for name, high in zip(QUANTILES, bounds(slots)[1].T / 1e6, strict=True):
        rows.arrays[name][row[kept]] = high[kept]
    rows.arrays["heat"][row[kept]] = np.frombuffer(heat, np.uint32).reshape(-1, HEAT_ROWS)[kept]


class Operations:
    """All operations of a run, and their sum."""

    def __init__(self, origin_ns: int) -> None:
        self.origin_ns = origin_ns
        self.by_name: dict[str, Operation] = {}
        self.last_ns = 0
        self._nameless = Operation()
        self._covered: dict[str, list[Rows]] = {}
        self._workloads: dict[str, str] = {}

    def add(
        self, names: Sequence[str | None], codes: Array, rows: Completed, until_ns: int = 0
    ) -> None:
        """Adds rows; ``names[codes[i]]`` is the operation of row i.

        Later rows reach ``until_ns``: latencies too old for the narrow bins by then skip these.
        """
        fine = rows.t_ns > 0
        sums: list[_core.Sums] = []
        counted = np.zeros(len(fine), bool)
        for code in np.unique(codes[fine]).tolist():
            name = names[code]
            known = name is not None and (
                name in self.by_name or len(self.by_name) <= _MOST_OPERATIONS
            )
            if name and known:
                own = fine & (codes == code)
                sums.append(self._of(name).add(rows.only(own), self.origin_ns, until_ns))
                counted |= own
        if fine.any():
            nameless = fine & ~counted
            if nameless.any():
                sums.append(self._nameless.add(rows.only(nameless), self.origin_ns, until_ns))
            self._of(ALL).add_sums(rows.only(fine), sums, self.origin_ns)
            ends = rows.t_ns[fine] + (rows.seconds[fine] * NS).astype(np.int64)
            self.last_ns = max(self.last_ns, int(ends.max()))

    def cover(
        self, workload: str, names: Iterable[str | None], t_ns: Array, seconds: Array
    ) -> None:
        """Adds intervals of a workload, once each.

        They count for all of its operations: one without a row in an interval completed nothing.

        Args:
            workload: Distinguishes workloads that run at the same time.
            names: Its operations, as far as they are known.
            t_ns: Start of each interval.
            seconds: Length of each interval.
        """
        self._workloads |= {name: workload for name in names if name}
        fine = t_ns > 0
        bins = (t_ns[fine] - self.origin_ns) // NS
        if workload not in self._covered:
            self._covered[workload] = [
                Rows(_MOST_BINS, seconds=((), np.float32, 0.0)) for _ in range(LEVELS)
            ]
        for of_level in self._covered[workload] if len(bins) else ():
            row, kept = of_level.place(bins)
            sums = np.bincount(row[kept], seconds[fine][kept])
            of_level.arrays["seconds"][: len(sums)] += sums
            bins = bins // FACTOR

    def _of(self, name: str) -> Operation:
        if name not in self.by_name:
            self.by_name[name] = Operation()
        return self.by_name[name]

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
        workload = self._workloads.get(name)
        seconds = (
            self.values(name, "seconds", level, start, count) if workload is None else
            self._covered[workload][level].slice("seconds", start, count)
        )  # fmt: skip
        # Single queries have no interval: their rate is over the bin.
        seconds = np.where((seconds <= 0) & (done > 0), FACTOR**level, seconds)
        found = np.full(count, np.nan, np.float32)
        np.divide(done, seconds, out=found, where=seconds > 0)
        return found

    def covers(self, level: int, bin_: int) -> bool:
        """Whether the level still holds this bin."""
        every = self.by_name.get(ALL)
        return every is None or every.levels[level].covers(bin_)
