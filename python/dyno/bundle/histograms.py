"""Latency distributions: merges stored histograms and computes percentiles.

Percentiles are never averaged: interval histograms are summed and the percentile is computed
from the sum. The encoding is the public HDR "V2 deflate" in base64. Values are nanoseconds with
three significant digits.
"""

from __future__ import annotations

import base64
import math
import struct
import weakref
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dyno.errors import UsageError

# The range of the engines' histograms: 1 ns to 1 h.
_HIGHEST_NS = 3_600_000_000_000
# A valid histogram of that range takes at most 300 kB uncompressed.
_LONGEST_TEXT = 500_000
_LONGEST = 1 << 20
_HEAD = struct.Struct(">IIIIqqd")
"""V2 header: cookie, length, offset, digits, lowest and highest value, ratio."""
_DIGITS = 3
_HALF = 10
"""Bits of half a bucket at three digits: 1,024 slots."""
_SLOTS = 33 << _HALF
"""Slots of the engines' range."""
_LONGEST_NUMBER = 7
"""Bytes of a count after its first: 56 bits."""
_CANNOT = "The bundle is damaged: a latency histogram cannot be decoded"


class Latencies:
    """A latency distribution that accumulates stored histograms."""

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
        except Exception as error:  # damaged input makes the decoder raise arbitrary exceptions
            raise UsageError(f"{_CANNOT} ({error}).") from error

    def merge(self, other: Latencies) -> None:
        """Adds the latencies of another distribution."""
        self._merged.add(other._merged)

    @property
    def count(self) -> int:
        """Number of latencies."""
        return int(self._merged.total_count)

    @property
    def spread(self) -> Spread:
        """A compact snapshot of the latencies added so far."""
        import numpy as np

        counts = np.frombuffer(self._merged.counts, dtype=np.int64)
        used = np.flatnonzero(counts)
        low, high = bounds(used)
        return Spread(low, high, np.cumsum(counts[used]))

    def quantile_ms(self, quantile: float) -> float:
        """See :meth:`Spread.quantile_ms`."""
        return self.spread.quantile_ms(quantile)

    @property
    def max_ms(self) -> float:
        """The maximum latency in ms; 0 if empty."""
        return self.spread.max_ms

    @property
    def mean_ms(self) -> float:
        """See :attr:`Spread.mean_ms`."""
        return self.spread.mean_ms


def bounds(slots: Any) -> tuple[Any, Any]:
    """Lowest and highest value in ns of slots of the engines' histograms (1 ns, three digits)."""
    import numpy as np

    # HDR layout: bucket b is selected by the high bits of the index, and its slots are 2^b wide.
    # The slots of the lower half of the first bucket come first.
    bucket = (slots >> _HALF) - 1
    place = (slots & ((1 << _HALF) - 1)) + (bucket >= 0) * (1 << _HALF)
    shift = np.maximum(bucket, 0)
    low = place << shift
    return low, low + (np.int64(1) << shift) - 1


def slots_of(values_ns: Any) -> Any:
    """The slots of values in ns (an array); see :func:`bounds`."""
    import numpy as np

    values = np.clip(values_ns, 1, _HIGHEST_NS).astype(np.int64)
    shift = np.maximum(np.frexp(values.astype(np.float64))[1] - (_HALF + 1), 0)
    return (shift << _HALF) + (values >> shift)


def counted(encoded: Sequence[str | None]) -> tuple[Any, Any, Any]:
    """Decodes many histograms at once, without their empty slots.

    Returns:
        Arrays of one entry a used slot: the place of its histogram in ``encoded``, the slot, and
        the count.

    Raises:
        UsageError: If one cannot be decoded, or has other digits or range than the engines'.
    """
    import numpy as np

    payloads: list[bytes] = []
    places: list[int] = []
    for place, text in enumerate(encoded):
        if text:
            content = _require_usual(text)
            _, length, _, digits, lowest, _, _ = _HEAD.unpack_from(content)
            if (digits, lowest) != (_DIGITS, 1):
                raise UsageError(f"{_CANNOT} (it has {digits} digits from {lowest}).")
            payloads.append(content[_HEAD.size : _HEAD.size + length])
            places.append(place)
    if not payloads:
        none = np.empty(0, np.int64)
        return none, none, none
    packed = np.frombuffer(b"".join(payloads), np.uint8)
    ends = np.cumsum([len(one) for one in payloads])
    # Each number is little endian in groups of seven bits, whose last byte has no high bit.
    last = np.flatnonzero(packed < 128)
    first = np.concatenate([[0], last[:-1] + 1])
    if not len(last) or last[-1] != len(packed) - 1 or (last - first).max() > _LONGEST_NUMBER:
        raise UsageError(f"{_CANNOT} (a number is invalid).")
    group = np.arange(len(packed)) - np.repeat(first, last - first + 1)
    part = (packed & 127).astype(np.int64) << (7 * group)
    zigzag = np.add.reduceat(part, first)
    number = (zigzag >> 1) ^ -(zigzag & 1)
    owner = np.searchsorted(ends, last, side="right")
    # A negative number is a run of empty slots.
    steps = np.where(number < 0, -number, 1)
    after = np.cumsum(steps)
    of_first = np.searchsorted(owner, np.arange(len(payloads)))
    before = np.where(of_first > 0, after[of_first - 1], 0)
    slot = after - steps - before[owner]
    used = number > 0
    if len(slot) and slot[used].max(initial=0) >= _SLOTS:
        raise UsageError(f"{_CANNOT} (a value is beyond its range).")
    return np.asarray(places, np.int64)[owner[used]], slot[used], number[used]


def _require_usual(encoded: str) -> bytes:
    """The unpacked histogram. Rejects a larger one than the engines record before it takes memory.

    Raises:
        UsageError: If digits or highest value in the header exceed the engines' range.
    """
    try:
        if len(encoded) > _LONGEST_TEXT:
            raise ValueError("it is too long")
        unpacking = zlib.decompressobj()
        content = unpacking.decompress(base64.b64decode(encoded, validate=True)[8:], _LONGEST)
        if unpacking.unconsumed_tail:
            raise ValueError("it unpacks to more than one of this range")
        if not unpacking.eof:
            raise ValueError("it is cut short")
        _, length, _, digits, lowest, highest, _ = _HEAD.unpack_from(content)
        if not 1 <= digits <= 3 or not 1 <= lowest <= highest <= _HIGHEST_NS:
            raise ValueError(f"it has {digits} digits from {lowest} to {highest}")
        if not 0 <= length <= len(content) - _HEAD.size:
            raise ValueError("it is cut short")
        return content
    except (ValueError, zlib.error, struct.error) as error:
        raise UsageError(f"{_CANNOT} ({error}).") from error


def _freed_at_once(histogram: Any) -> Any:
    """Breaks the reference cycle between the histogram and its encoder, and returns the histogram.

    A table has thousands of histograms of 250 kB each. The cyclic garbage collector counts objects
    rather than bytes, so it would free them too late.
    """
    histogram.encoder.histogram = weakref.proxy(histogram)
    return histogram


@dataclass(frozen=True)
class Spread:
    """Latencies by bucket, non-empty buckets only.

    A full histogram covers 1 ns to 1 h and takes 250 kB; this takes a few kilobytes.

    Attributes:
        low, high: Bucket bounds in ns, ascending.
        up_to: Cumulative count of latencies up to and including each bucket.
    """

    low: Any
    high: Any
    up_to: Any

    @property
    def count(self) -> int:
        """Number of latencies."""
        return int(self.up_to[-1]) if len(self.up_to) else 0

    def quantile_ms(self, quantile: float) -> float:
        """The latency at ``quantile`` (0 to 1), in ms; 0 if empty.

        This is the value of rank ⌈q·n⌉ at the upper bound of its bucket, as the engines print it.
        """
        if not self.count:
            return 0.0
        rank = max(1, math.ceil(quantile * self.count))
        return float(self.high[self.up_to.searchsorted(rank)]) / 1e6

    @property
    def max_ms(self) -> float:
        """The maximum latency in ms; 0 if empty."""
        return self.quantile_ms(1.0)

    @property
    def mean_ms(self) -> float:
        """The mean of the bucket midpoints, in ms; 0 if empty."""
        if not self.count:
            return 0.0
        import numpy as np

        middles = (self.low + self.high) / 2
        return float(middles @ np.diff(self.up_to, prepend=0)) / self.count / 1e6
