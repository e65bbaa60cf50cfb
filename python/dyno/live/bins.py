"""Time in bins of 1, 4, 16 … seconds: bounded memory, and every zoom has its resolution."""

from __future__ import annotations

from typing import Any

import numpy as np

NS = 1_000_000_000
FACTOR = 4
LEVELS = 8
"""Levels of bins: the last has bins of 4.5 hours."""

Array = np.ndarray[Any, Any]


def width_s(level: int) -> int:
    """Length of a bin in s."""
    return FACTOR**level


class Rows:
    """Arrays with one row a bin, for the newest ``most`` bins of one level.

    Attributes:
        arrays: The arrays by name; all have the same number of rows.
        first: Bin of the first row.
    """

    def __init__(self, most: int, **empty: tuple[tuple[int, ...], Any, float]) -> None:
        """Makes the arrays without rows.

        Args:
            most: Rows that are kept at most.
            empty: By name: the shape of a row, the type, and the value of an empty row.
        """
        self._most, self._empty = most, empty
        self.first = 0
        self._rows = 0
        self._dropped = False
        self.arrays: dict[str, Array] = {
            name: np.full((0, *shape), value, kind) for name, (shape, kind, value) in empty.items()
        }

    @property
    def end(self) -> int:
        """The bin after the last row."""
        return self.first + self._rows

    def place(self, bins: Array) -> tuple[Array, Array]:
        """Makes rows for these bins.

        Returns:
            Their rows, and which of the bins have one: those before the kept rows have none.
        """
        low, high = int(bins.min()), int(bins.max()) + 1
        if not self._rows:
            self.first = low
        elif low < self.first and not self._dropped and self.end - low <= self._most:
            self._prepend(self.first - low)
        if high > self.end:
            self._extend(high)
        rows = bins - self.first
        return rows, rows >= 0

    def skips(self, end: int, newest: int) -> bool:
        """Whether rows before bin ``end`` are dropped at once, as bin ``newest`` will come."""
        skipped = end <= newest + 1 - self._most
        self._dropped |= skipped
        return skipped

    def covers(self, bin_: int) -> bool:
        """Whether no row from this bin on was dropped."""
        return not self._dropped or bin_ >= self.first

    def reshape(self, name: str, row: tuple[int, ...]) -> None:
        """Widens the rows of an array; new columns are empty."""
        _, kind, value = self._empty[name]
        self._empty[name] = (row, kind, value)
        old = self.arrays[name]
        self.arrays[name] = np.full((old.shape[0], *row), value, kind)
        self.arrays[name][:, : old.shape[1]] = old

    def _prepend(self, count: int) -> None:
        for name, (shape, kind, value) in self._empty.items():
            added = np.full((count, *shape), value, kind)
            self.arrays[name] = np.concatenate([added, self.arrays[name]])
        self.first -= count
        self._rows += count

    def _extend(self, end: int) -> None:
        """Makes rows up to bin ``end``; drops a quarter of them when there are too many."""
        if end - self.first > self._most:
            start = max(end - self._most * 3 // 4, self.first)
            drop = start - self.first
            for name in self.arrays:
                self.arrays[name] = self.arrays[name][drop:].copy()
            self._rows = max(0, self._rows - drop)
            self.first, self._dropped = start, True
        need = end - self.first
        held = next(iter(self.arrays.values())).shape[0]
        if need > held:
            size = min(max(need, 2 * held, 64), max(self._most, need))
            for name, (shape, kind, value) in self._empty.items():
                more = np.full((size - held, *shape), value, kind)
                self.arrays[name] = np.concatenate([self.arrays[name], more])
        self._rows = need

    def slice(self, name: str, start: int, count: int) -> Array:
        """Rows of ``count`` bins from bin ``start``; bins without a row are empty."""
        shape, kind, value = self._empty[name]
        found = np.full((count, *shape), value, kind)
        first = self.first
        low, high = max(start, first), min(start + count, self.end)
        if high > low:
            found[low - start : high - start] = self.arrays[name][low - first : high - first]
        return found


def level_for(span_s: float, most_bins: int) -> int:
    """The finest level that shows ``span_s`` in at most ``most_bins`` bins."""
    for level in range(LEVELS):
        if span_s <= width_s(level) * most_bins:
            return level
    return LEVELS - 1
