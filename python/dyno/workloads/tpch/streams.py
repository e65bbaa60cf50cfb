"""The default number of query streams of the throughput test.

Source: the TPC-H specification's table of the minimum number of streams by scale factor.
"""

from __future__ import annotations

_LEAST = (
    *((1, 2), (10, 3), (30, 4), (100, 5), (300, 6)),
    *((1_000, 7), (3_000, 8), (10_000, 9), (30_000, 10), (100_000, 11)),
)


def streams(scale: float) -> int:
    """Streams at a scale factor: those of the next smaller one in the table, minimum two."""
    return max((count for least, count in _LEAST if scale >= least), default=_LEAST[0][1])
