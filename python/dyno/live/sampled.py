"""Samples of the probes in bins: weighted means and maxima of every series."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dyno.bundle.observed import counted_by
from dyno.bundle.series import Key
from dyno.live.bins import FACTOR, LEVELS, NS, Array, Rows
from dyno.safety.plainjson import LARGEST

if TYPE_CHECKING:
    import pyarrow as pa

_MOST_SERIES = 8192
_MOST_BINS = 4096
_CELLS = 2_000_000
"""Values of an array of one level: with many series fewer bins are kept."""
_BLOCK = 500_000
"""Values that are added at once."""


class Samples:
    """Every sampled series, in columns of shared arrays."""

    def __init__(self, origin_ns: int) -> None:
        self.origin_ns = origin_ns
        self.columns: dict[Key, int] = {}
        self.units: dict[Key, str] = {}
        self.newest: dict[Key, tuple[int, float]] = {}
        self.last_ns = 0
        self._counted: dict[int, list[Key]] = {}
        self._width = 0
        self._levels: list[Rows] = []

    def add(self, batch: pa.RecordBatch, until_ns: int = 0) -> None:
        """Adds rows of the table ``samples``. Drops incomplete and absurd ones.

        Later rows reach ``until_ns``: levels that will not keep these rows by then skip them.
        """
        t_ns, value = numbers(batch, "t_ns", np.int64), numbers(batch, "value", np.float64)
        column = self._columns(batch)
        fine = (column >= 0) & (np.abs(value) <= LARGEST) & (t_ns > 0)
        if not fine.any():
            return
        t_ns, value, column = t_ns[fine], value[fine], column[fine]
        self._remember(t_ns, value, column)
        bins = (t_ns - self.origin_ns) // NS
        newest = (until_ns - self.origin_ns) // NS
        # In pieces of limited length, as a block has all bins from its first to its last.
        piece = (bins - bins.min()) // max(1, _BLOCK // self._width)
        for one in np.unique(piece):
            of_it = piece == one
            self._add(bins[of_it], value[of_it], column[of_it], newest)

    def _add(self, bins: Array, value: Array, column: Array, newest: int) -> None:
        """Adds readings to every level, as a block of sums with a row a bin."""
        first = int(bins.min())
        shape = (int(bins.max()) - first + 1, self._width)
        cells = (bins - first) * self._width + column
        many = np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape)
        total, highest = np.zeros(shape), np.full(shape, -np.inf)
        if many.max() == 1:  # as usual: one reading a second
            total.reshape(-1)[cells] = highest.reshape(-1)[cells] = value
        else:
            np.add.at(total.reshape(-1), cells, value)
            np.maximum.at(highest.reshape(-1), cells, value)
        weight = self._weighted(total, many.astype(float))
        total = np.divide(total * weight, many, out=np.zeros(shape), where=many > 0)
        for level, rows in enumerate(self._levels):
            if not rows.skips(first + len(total), newest // FACTOR**level):
                at, kept = rows.place(np.arange(first, first + len(total)))
                rows.arrays["sum"][at[kept]] += total[kept]
                rows.arrays["weight"][at[kept]] += weight[kept]
                peak = np.maximum(rows.arrays["max"][at[kept]], highest[kept])
                rows.arrays["max"][at[kept]] = peak
            if level + 1 < LEVELS:
                lead = first % FACTOR
                total, weight = (_fours(one, lead, 0.0).sum(axis=1) for one in (total, weight))
                highest = _fours(highest, lead, -np.inf).max(axis=1)
                first //= FACTOR

    def known(self, source: str, subject: str | None = None) -> list[Key]:
        """Series of a source, and of one subject."""
        return [key for key in self.columns if key[0] == source and subject in (None, key[1])]

    def means(self, keys: Sequence[Key], level: int, start: int, count: int) -> Array:
        """Means of the series, one row each, of ``count`` bins; NaN where nothing was sampled.

        A reading covers the time since the one before it. In bins of a second, one that two
        readings span has the value of the second.
        """
        found = np.full((len(keys), count), np.nan, np.float32)
        if not self._levels:
            return found
        rows = self._levels[level]
        total, weight = rows.slice("sum", start, count), rows.slice("weight", start, count)
        for place, key in enumerate(keys):
            column = self.columns.get(key)
            if column is not None:
                of_it = weight[:, column]
                np.divide(total[:, column], of_it, out=found[place], where=of_it > 0)
        if level == 0 and count > 2:
            empty = np.isnan(found)
            between = empty[:, 1:-1] & ~empty[:, :-2] & ~empty[:, 2:]
            found[:, 1:-1] = np.where(between, found[:, 2:], found[:, 1:-1])
        return found

    def covers(self, level: int, bin_: int) -> bool:
        """Whether the level still holds this bin."""
        return not self._levels or self._levels[level].covers(bin_)

    def _columns(self, batch: pa.RecordBatch) -> Array:
        """The column of each row; -1 for incomplete keys and those beyond the limit."""
        parts = [encoded(batch, name) for name in ("source", "subject", "metric")]
        units, unit_of = encoded(batch, "unit")
        code = np.zeros(batch.num_rows, np.int64)
        for values, codes in parts:
            code = code * (len(values) + 1) + codes
        found, place = distinct(code)
        first = np.empty(len(found), np.int64)
        first[place[::-1]] = np.arange(len(place))[::-1]  # the first of equal ones stays
        column = np.full(len(found), -1, np.int64)
        for at, one in enumerate(found.tolist()):
            names: list[str | None] = []
            for values, _ in reversed(parts):
                one, index = divmod(one, len(values) + 1)  # noqa: PLW2901
                names.append(values[index])
            metric, subject, source = names
            if source is not None and subject is not None and metric is not None:
                unit = units[unit_of[first[at]]] or ""
                column[at] = self._column((source, subject, metric), unit)
        return column[place]

    def _column(self, key: Key, unit: str) -> int:
        at = self.columns.get(key)
        if at is not None:
            return at
        if len(self.columns) >= _MOST_SERIES:
            return -1
        at = self.columns[key] = len(self.columns)
        self.units[key] = unit
        if counted := counted_by(key[0], key[2]):
            self._counted[at] = [(*key[:2], name) for name in counted]
        if at >= self._width:
            self._widen(max(64, 2 * self._width))
        return at

    def _widen(self, width: int) -> None:
        self._width = width
        if self._levels:
            for rows in self._levels:
                for name in rows.arrays:
                    rows.reshape(name, (width,))
            return
        kind = np.float32
        self._levels = [
            Rows(
                max(512, min(_MOST_BINS, _CELLS // width)),
                sum=((width,), kind, 0.0),
                weight=((width,), kind, 0.0),
                max=((width,), kind, -np.inf),
            )
            for _ in range(LEVELS)
        ]

    def _weighted(self, total: Array, many: Array) -> Array:
        """Weights of the cells of a block: the requests behind a latency or a share, else 1.

        Readings within the same second weigh alike.
        """
        weight = many.copy()
        for column, keys in self._counted.items():
            known = [self.columns[key] for key in keys if key in self.columns]
            if known and many[:, column].any():
                requests = total[:, known].sum(axis=1)
                weight[:, column] = np.where(many[:, column] > 0, np.maximum(requests, 1e-9), 0.0)
        return weight

    def _remember(self, t_ns: Array, value: Array, column: Array) -> None:
        """Keeps the newest value of each series."""
        last = np.full(self._width, -1)
        last[column] = np.arange(len(column))  # the last of equal places stays
        for at, key in enumerate(self.columns):
            if (row := int(last[at])) >= 0:
                self.newest[key] = (int(t_ns[row]), float(value[row]))
        self.last_ns = max(self.last_ns, int(t_ns.max()))


def _fours(rows: Array, lead: int, empty: float) -> Array:
    """The rows of each wider bin, with empty ones before the first, ``lead`` of them, and after."""
    after = -(lead + len(rows)) % FACTOR
    width = rows.shape[1]
    whole = np.vstack([np.full((lead, width), empty), rows, np.full((after, width), empty)])
    return whole.reshape(-1, FACTOR, width)


def numbers(batch: pa.RecordBatch, name: str, kind: Any) -> Array:
    """A column of numbers. A column that is missing, or a null, is NaN or 0."""
    at = batch.schema.get_field_index(name)
    if at < 0:
        return np.zeros(batch.num_rows, kind)
    column = batch.column(at)
    if kind is np.int64:
        import pyarrow.compute

        pc: Any = pyarrow.compute
        return pc.fill_null(column, 0).to_numpy(zero_copy_only=False).astype(np.int64)
    return column.to_numpy(zero_copy_only=False).astype(np.float64)


def distinct(values: Array) -> tuple[Array, Array]:
    """The different integers, and the place of each value among them. Hashes, does not sort."""
    import pyarrow as pa

    coded: Any = pa.array(values).dictionary_encode()
    return coded.dictionary.to_numpy(), coded.indices.to_numpy()


def encoded(batch: pa.RecordBatch, name: str) -> tuple[list[str | None], Array]:
    """The texts of a column that differ, with None last, and the place of each row's."""
    import pyarrow as pa

    at = batch.schema.get_field_index(name)
    if at < 0:
        return [None], np.zeros(batch.num_rows, np.int64)
    column: Any = batch.column(at)
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    values: list[str | None] = [*column.dictionary.to_pylist(), None]
    codes = column.indices.fill_null(len(values) - 1).to_numpy(zero_copy_only=False)
    return values, codes.astype(np.int64)
