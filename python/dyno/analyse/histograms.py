"""Latency distributions: stored histograms merged, and what is read off them.

Percentiles are never averaged: histograms of intervals are added up and the percentile is read
off the sum. The encoding is the public HDR "V2 deflate" in base64; values are nanoseconds with
three significant digits.
"""

from __future__ import annotations

import base64
import math
import struct
import weakref
import zlib
from dataclasses import dataclass
from typing import Any

from dyno.errors import UsageError

# The range of the engines' histograms: 1 ns to 1 h.
_HIGHEST_NS = 3_600_000_000_000
# An honest histogram of that range takes at most 300 kB before compression.
_LONGEST_TEXT = 500_000
_LONGEST = 1 << 20
_HEAD = struct.Struct(">IIIIqqd")
"""Of the encoding (V2): cookie, length, offset, digits, lowest and highest value, ratio."""


class Latencies:
    """A latency distribution that grows by stored histograms."""

    def __init__(self) -> None:
        from hdrh.histogram import HdrHistogram

        self._merged: Any = _freed_at_once(HdrHistogram(1, _HIGHEST_NS, 3))

    def add(self, encoded: str | None) -> None:
        """Adds a stored histogram; None and empty text add nothing.

        Raises:
            UsageError: If it cannot be decoded.
        """
        if not encoded:
            return
        _require_usual(encoded)
        from hdrh.histogram import HdrHistogram

        try:
            self._merged.add(_freed_at_once(HdrHistogram.decode(encoded)))
        except Exception as error:  # the decoder raises whatever the bytes lead it to
            raise UsageError(
                f"The bundle is damaged: a latency histogram cannot be decoded ({error})."
            ) from error

    @property
    def count(self) -> int:
        """Number of latencies."""
        return int(self._merged.total_count)

    @property
    def spread(self) -> Spread:
        """What was added so far, to keep."""
        import numpy as np

        counts = np.frombuffer(self._merged.counts, dtype=np.int64)
        used = np.flatnonzero(counts)
        # As the encoding has it: in bucket b, which is where the index has its high bits, each
        # place is 2^b wide; those of the lower half of the first bucket come before all others.
        half, unit = self._merged.sub_bucket_half_count_magnitude, self._merged.unit_magnitude
        bucket = (used >> half) - 1
        place = (used & ((1 << half) - 1)) + (bucket >= 0) * (1 << half)
        shift = np.maximum(bucket, 0) + unit
        low = place << shift
        return Spread(low, low + (np.int64(1) << shift) - 1, np.cumsum(counts[used]))

    def quantile_ms(self, quantile: float) -> float:
        """As :meth:`Spread.quantile_ms`."""
        return self.spread.quantile_ms(quantile)

    @property
    def max_ms(self) -> float:
        """The longest latency, in ms; 0 when empty."""
        return self.spread.max_ms

    @property
    def mean_ms(self) -> float:
        """As :attr:`Spread.mean_ms`."""
        return self.spread.mean_ms


def _require_usual(encoded: str) -> None:
    """Refuses a histogram of more than the engines record, before there is memory for it.

    Raises:
        UsageError: By its head: digits and highest value say how large it would be.
    """
    try:
        if len(encoded) > _LONGEST_TEXT:
            raise ValueError("it is too long")
        unpacking = zlib.decompressobj()
        content = unpacking.decompress(base64.b64decode(encoded, validate=True)[8:], _LONGEST)
        if unpacking.unconsumed_tail:
            raise ValueError("it unpacks to more than one of this range")
        _, length, _, digits, lowest, highest, _ = _HEAD.unpack_from(content)
        if not 1 <= digits <= 3 or not 1 <= lowest <= highest <= _HIGHEST_NS:
            raise ValueError(f"it has {digits} digits from {lowest} to {highest}")
        if not 0 <= length <= len(content) - _HEAD.size:
            raise ValueError("it is cut short")
    except (ValueError, zlib.error, struct.error) as error:
        raise UsageError(
            f"The bundle is damaged: a latency histogram cannot be decoded ({error})."
        ) from error


def _freed_at_once(histogram: Any) -> Any:
    """The same without the circle through its encoder.

    A table has thousands of them, of a quarter of a megabyte each, and the collector of circles
    counts objects rather than bytes.
    """
    histogram.encoder.histogram = weakref.proxy(histogram)
    return histogram


@dataclass(frozen=True)
class Spread:
    """Latencies by bucket, of the buckets that have any.

    A histogram has room for all from 1 ns to 1 h, a quarter of a megabyte; this is a few kilobytes.

    Attributes:
        low, high: Bounds of the buckets in ns, rising.
        up_to: Number of latencies in each bucket and those before it.
    """

    low: Any
    high: Any
    up_to: Any

    @property
    def count(self) -> int:
        """Number of latencies."""
        return int(self.up_to[-1]) if len(self.up_to) else 0

    def quantile_ms(self, quantile: float) -> float:
        """The latency that a share ``quantile`` (0 to 1) does not exceed, in ms; 0 when empty.

        The value of rank ⌈q·n⌉, at the upper end of its bucket: what the engines print.
        """
        if not self.count:
            return 0.0
        rank = max(1, math.ceil(quantile * self.count))
        return float(self.high[self.up_to.searchsorted(rank)]) / 1e6

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

        middles = (self.low + self.high) / 2
        return float(middles @ np.diff(self.up_to, prepend=0)) / self.count / 1e6
