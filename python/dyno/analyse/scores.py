"""Formulas of the decision-support metrics. Pure arithmetic, in log space.

Source: the TPC-H specification, clause 5.4. The results are Dyno's own, derived from TPC-H, and not
comparable with published results.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

QUERIES = 22
LARGEST_SPREAD = 1000.0


def geometric_mean(values: Iterable[float]) -> float:
    """The n-th root of the product, in log space; 0 if any value is 0."""
    logs = [math.log(value) if value > 0 else -math.inf for value in values]
    return math.exp(sum(logs) / len(logs))


def raised(intervals: Sequence[float]) -> list[float]:
    """Raises intervals below 1/1000 of the longest to that value."""
    least = max(intervals) / LARGEST_SPREAD
    return [max(interval, least) for interval in intervals]


def query_intervals(starts: Sequence[float], last_end: float) -> list[float]:
    """Seconds from each query's submission to the next; for the last query, to its end."""
    return [end - start for start, end in zip(starts, [*starts[1:], last_end], strict=True)]


def power(scale: float, queries: Sequence[float], refreshes: Sequence[float]) -> float:
    """``3600·SF / (ΠQI·RI₁·RI₂)^(1/24)``: queries per hour of a single user.

    Args:
        scale: The scale factor.
        queries: Intervals of the 22 queries in seconds, from :func:`query_intervals`; this
            function raises the small ones.
        refreshes: Seconds of the two refresh functions.
    """
    return 3600 * scale / geometric_mean([*raised(queries), *refreshes])


def throughput(scale: float, streams: int, seconds: float, queries: int = QUERIES) -> float:
    """``S·22·3600·SF / Ts``: queries per hour of all users together.

    Args:
        scale: The scale factor.
        streams: The number of query streams.
        seconds: Time from the first submission to the last completion of all streams, including
            the refresh stream.
        queries: Queries of a stream.
    """
    return streams * queries * 3600 * scale / seconds


def composite(power_score: float, throughput_score: float) -> float:
    """The geometric mean of power and throughput."""
    return geometric_mean([power_score, throughput_score])
