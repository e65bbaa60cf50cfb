"""Samples of a long recording as arrays: a day has millions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Set
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dyno.bundle import metrics
from dyno.bundle.inside import REPORTED, WAITING
from dyno.bundle.machines import split
from dyno.bundle.model import Estimate
from dyno.bundle.observed import counted_by
from dyno.bundle.series import Key

if TYPE_CHECKING:
    import pyarrow as pa

Times = npt.NDArray[np.int64]
Values = npt.NDArray[np.float64]

_LEFT_OUT = frozenset({"dyno"})
"""Sources about Dyno's own sampling."""


class Readings:
    """Series of samples by key; times are ns since the Unix epoch, in order."""

    def __init__(self, series: dict[Key, tuple[Times, Values]], units: dict[Key, str]) -> None:
        self._series, self._units = series, units
        self._times: dict[str, Times] = {}
        self._lengths: dict[str, Values] = {}

    @classmethod
    def of(cls, samples: pa.Table) -> Readings:
        """Sorts a table of samples into its series."""
        import pyarrow.compute

        pc: Any = pyarrow.compute
        valid = pc.and_(pc.is_finite(samples.column("value")), pc.is_valid(samples.column("t_ns")))
        table = samples.filter(valid)
        codes = np.zeros(table.num_rows, np.int64)
        names: list[list[str]] = []
        for name in ("source", "subject", "metric"):
            column: Any = pc.fill_null(table.column(name), "").combine_chunks().dictionary_encode()
            names.append(column.dictionary.to_pylist())
            codes = codes * max(1, len(names[-1])) + column.indices.to_numpy(zero_copy_only=False)
        t_ns: Times = table.column("t_ns").to_numpy()
        values: Values = table.column("value").to_numpy()
        order = np.lexsort((t_ns, codes))
        codes, t_ns, values = codes[order], t_ns[order], values[order]
        starts = np.flatnonzero(np.diff(codes, prepend=-1))
        ends = [*starts[1:], len(codes)]
        series: dict[Key, tuple[Times, Values]] = {}
        units: dict[Key, str] = {}
        unit = table.column("unit")
        for start, end in zip(starts, ends, strict=True):
            rest, metric = divmod(int(codes[start]), len(names[2]))
            source, subject = divmod(rest, len(names[1]))
            key = names[0][source], names[1][subject], names[2][metric]
            series[key] = t_ns[start:end], values[start:end]
            units[key] = unit[int(order[start])].as_py() or ""
        return cls(series, units)

    def __iter__(self) -> Iterator[Key]:
        """The keys of all series."""
        return iter(self._series)

    def times(self, source: str) -> Times:
        """The times of all readings of a source."""
        if source not in self._times:
            every = [t_ns for key, (t_ns, _) in self._series.items() if key[0] == source]
            self._times[source] = np.unique(np.concatenate([*every, np.array([], np.int64)]))
        return self._times[source]

    def by_bin(self, key: Key, span: tuple[int, int], width_ns: int, bins: int) -> Values:
        """The mean of a series in each bin after ``span[0]``; 0 where nothing was read.

        A bin has the mean over all readings of the source in it: an absent value counts as 0.
        """
        if key not in self._series:
            return np.zeros(bins)
        t_ns, values = self._series[key]
        every = self.times(key[0])
        inside, ticks = _within(t_ns, span), _within(every, span)
        at, of = (t_ns[inside] - span[0]) // width_ns, (every[ticks] - span[0]) // width_ns
        sums = np.bincount(at, values[inside], bins)[:bins]
        counts = np.bincount(of, minlength=bins)[:bins]
        return sums / np.maximum(counts, 1)

    def estimates(
        self,
        at: Callable[[str], metrics.Resources],
        span: tuple[int, int],
        nested: Set[str],
        source: str,
    ) -> Iterable[Estimate]:
        """Mean and maximum of every series in a span; of memory the minimum, too.

        Args:
            at: The scope of the metrics by machine; empty is this one.
            span: Start and end, ns since the Unix epoch.
            nested: Stacked devices that hold files of the target.
            source: The description of the source.
        """
        longest = {"": 0}
        for key, (t_ns, values) in self._series.items():
            origin, subject, metric = key
            inside = _within(t_ns, span)
            if origin in _LEFT_OUT or not inside.any():
                continue
            if origin.startswith("nested_disk"):
                if subject not in nested:
                    continue
                origin = origin.removeprefix("nested_")
            probe, machine = split(origin)
            if probe in REPORTED:
                machine = ""  # the database reports itself, on whichever machine it runs
            longest[machine] = max(longest.get(machine, 0), int(inside.sum()))
            of, unit = at(machine).sampled(probe, subject, metric), self._units[key]
            mean = self._mean(key, t_ns[inside], values[inside], span)
            yield of.mean.estimate(mean, source, unit=unit)
            yield of.max.estimate(float(values[inside].max()), source, unit=unit)
            if probe == "memory":
                yield of.min.estimate(float(values[inside].min()), source, unit=unit)
        for machine, count in longest.items():
            yield at(machine).samples.estimate(count, source)

    def _mean(self, key: Key, t_ns: Times, values: Values, span: tuple[int, int]) -> float:
        """The mean weighted by time, or by the counts of the same subject."""
        source, subject, metric = key
        every = self.times(source)
        lengths = self._lengths.setdefault(source, _lengths(every))
        weights = lengths[np.searchsorted(every, t_ns)]
        if source.partition("@")[0] in WAITING:
            # A reading omits the events in which no session was.
            return float((values * weights).sum() / lengths[_within(every, span)].sum())
        names = counted_by(source.partition("@")[0].removeprefix("nested_"), metric)
        counts = np.zeros(len(values))
        for name in names:
            times, found = self._series.get((source, subject, name), (t_ns[:0], values[:0]))
            same, mine, other = np.intersect1d(t_ns, times, return_indices=True)
            if len(same):
                counts[mine] += found[other]
        weighed = weights * counts
        return float(np.average(values, weights=weighed if weighed.sum() > 0 else weights))


def _within(t_ns: Times, span: tuple[int, int]) -> npt.NDArray[np.bool_]:
    return (t_ns > span[0]) & (t_ns <= span[1])


def _lengths(every: Times) -> Values:
    """The time that each reading covers, in s: since the previous one, unless there was a gap."""
    if len(every) < 2:
        return np.ones(len(every))
    steps = np.diff(every) / 1e9
    usual = float(np.median(steps))
    return np.minimum(np.concatenate([[usual], steps]), 3 * usual)
