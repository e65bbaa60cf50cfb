"""Latency distributions: merges stored histograms and computes percentiles.

Percentiles are never averaged: interval histograms are summed and the percentile is computed
from the sum. The encoding is the public HDR "V2 deflate" in base64. Values are nanoseconds with
three significant digits.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dyno.errors import UsageError

if TYPE_CHECKING:
    from dyno import _core

SLOTS = 33 << 10
"""Slots of a histogram, 1 ns to 1 h."""
_HALF = 10
"""Bits of half a bucket at three digits: 1,024 slots."""


class Latencies:
    """A latency distribution that accumulates stored histograms."""

    def __init__(self) -> None:
        from dyno import _core

        self._sum = _core.Latency()

    def add(self, encoded: str | None) -> None:
        """Adds a stored histogram; None and empty text add nothing.

        Raises:
            UsageError: If it cannot be decoded, or exceeds three digits or an hour.
        """
        if encoded:
            with _damage_reported():
                self._sum.add(encoded)

    def merge(self, other: Latencies) -> None:
        """Adds the latencies of another distribution."""
        self._sum.merge(other._sum)

    def encode(self) -> str:
        """The distribution as it is stored; empty text without latencies."""
        return self._sum.encode() if self.count else ""

    @property
    def count(self) -> int:
        """Number of latencies."""
        return self.spread.count

    @property
    def spread(self) -> Spread:
        """A compact snapshot of the latencies added so far."""
        import numpy as np

        slots, counts = used(self._sum.used())
        low, high = bounds(slots)
        return Spread(low, high, np.cumsum(counts))

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


def stored(column: Any) -> tuple[_core.Histograms, Any]:
    """Decodes the stored histograms of an Arrow column; null and empty text have no latencies.

    Returns:
        The histograms that differ, and the place of each row's.

    Raises:
        UsageError: If one cannot be decoded, or exceeds three digits or an hour.
    """
    import numpy as np
    import pyarrow as pa

    from dyno import _core

    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    # A null is an empty text after all others.
    texts = pa.concat_arrays([column.dictionary.cast(pa.binary()), pa.array([b""])])
    codes = column.indices.fill_null(len(texts) - 1).to_numpy(zero_copy_only=False)
    # The dictionary is that of the file: it may have more than the texts of these rows.
    rows, places = np.unique(codes.astype(np.int64), return_inverse=True)
    _, offsets, content = texts.buffers()
    edges, content = np.frombuffer(offsets, np.int32), np.frombuffer(content or b"", np.uint8)
    with _damage_reported():
        return _core.Histograms.stored(edges, content, rows), places


@contextlib.contextmanager
def _damage_reported() -> Generator[None]:
    from dyno import _core

    try:
        yield
    except _core.EngineError as error:
        reason = error.args[1]
        message = f"The bundle is damaged: a latency histogram cannot be decoded ({reason})."
        raise UsageError(message) from error


def used(slots_and_counts: tuple[bytes, bytes]) -> tuple[Any, Any]:
    """The used slots of a histogram, ascending, and their counts, as integer arrays."""
    import numpy as np

    slots, counts = slots_and_counts
    return np.frombuffer(slots, np.uint16).astype(np.int64), np.frombuffer(counts, np.int64)


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
