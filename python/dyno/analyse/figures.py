"""The formulas of the decision-support figures. Pure arithmetic, in log space.

Source: the TPC-H specification, clause 5.4. The figures are Dyno's own, derived from TPC-H, and not
comparable with published results.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

QUERIES = 22
LARGEST_SPREAD = 1000.0


def geometric_mean(values: Iterable[float]) -> float:
    """The n-th root of the product, in log space; 0 if a value is."""
    logs = [math.log(value) if value > 0 else -math.inf for value in values]
    return math.exp(sum(logs) / len(logs))


def raised(intervals: Sequence[float]) -> list[float]:
    """The intervals, none below 1/1000 of the longest: the small ones are raised to that."""
    least = max(intervals) / LARGEST_SPREAD
    return [max(interval, least) for interval in intervals]


def query_intervals(starts: Sequence[float], last_end: float) -> list[float]:
    """Seconds from each query's submission to the next one's, the last one's to its end."""
    return [end - start for start, end in zip(starts, [*starts[1:], last_end], strict=True)]


def power(scale: float, queries: Sequence[float], refreshes: Sequence[float]) -> float:
    """``3600·SF / (ΠQI·RI₁·RI₂)^(1/24)``: queries an hour that one user gets.

    Args:
        scale: The scale factor.
        queries: Intervals of the 22 queries in seconds, as :func:`query_intervals` gives them;
            the small ones are raised here.
        refreshes: Seconds of the two refresh functions.
    """
    return 3600 * scale / geometric_mean([*raised(queries), *refreshes])


def throughput(scale: float, streams: int, seconds: float) -> float:
    """``S·22·3600·SF / Ts``: queries an hour that all users get together.

    Args:
        scale: The scale factor.
        streams: Query streams.
        seconds: From the first submission to the last completion of all streams, the refresh
            stream among them.
    """
    return streams * QUERIES * 3600 * scale / seconds


def composite(power_figure: float, throughput_figure: float) -> float:
    """The geometric mean of both."""
    return geometric_mean([power_figure, throughput_figure])
