"""Latency distributions: stored histograms merged, and what is read off them.

Percentiles are never averaged: histograms of intervals are added up and the percentile is read
off the sum. The encoding is the public HDR "V2 deflate" in base64; values are nanoseconds with
three significant digits.
"""

from __future__ import annotations

import math
from typing import Any

from dyno.errors import UsageError

# The range of the engines' histograms: 1 ns to 1 h.
_HIGHEST_NS = 3_600_000_000_000
# An honest histogram of that range takes at most 300 kB before compression.
_LONGEST_TEXT = 500_000


class Latencies:
    """A latency distribution that grows by stored histograms."""

    def __init__(self) -> None:
        from hdrh.histogram import HdrHistogram

        self._merged: Any = HdrHistogram(1, _HIGHEST_NS, 3)

    def add(self, encoded: str | None) -> None:
        """Adds a stored histogram; None and empty text add nothing.

        Raises:
            UsageError: If it cannot be decoded.
        """
        if not encoded:
            return
        if len(encoded) > _LONGEST_TEXT:
            raise UsageError("The bundle is damaged: a latency histogram is too long.")
        try:
            self._merged.decode_and_add(encoded)
        except Exception as error:  # the decoder raises whatever the bytes lead it to
            raise UsageError(
                f"The bundle is damaged: a latency histogram cannot be decoded ({error})."
            ) from error

    @property
    def count(self) -> int:
        """Number of latencies."""
        return int(self._merged.total_count)

    def quantile_ms(self, quantile: float) -> float:
        """The latency that a share ``quantile`` (0 to 1) does not exceed, in ms; 0 when empty.

        The value of rank ⌈q·n⌉, at the upper end of its bucket: what the engines print.
        """
        if not self.count:
            return 0.0
        import numpy as np

        rank = max(1, math.ceil(quantile * self.count))
        index = int(np.searchsorted(np.cumsum(self._counts()), rank))
        value = self._merged.get_value_from_index(index)
        return self._merged.get_highest_equivalent_value(value) / 1e6

    @property
    def max_ms(self) -> float:
        """The longest latency, in ms; 0 when empty."""
        return self.quantile_ms(1.0)

    @property
    def mean_ms(self) -> float:
        """The mean of the buckets' middles, in ms; 0 when empty."""
        if not self.count:
            return 0.0
        import numpy as np

        counts = self._counts()
        total = 0.0
        for index in np.flatnonzero(counts).tolist():
            low = self._merged.get_value_from_index(index)
            high = self._merged.get_highest_equivalent_value(low)
            total += float(counts[index]) * (low + high) / 2
        return total / self.count / 1e6

    def _counts(self) -> Any:
        import numpy as np

        return np.frombuffer(self._merged.counts, dtype=np.int64)
