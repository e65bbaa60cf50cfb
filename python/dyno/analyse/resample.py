"""95 % intervals of changes, of throughput and of the speed of queries."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dyno.statistics.autocorrelation import mean_error_percent

if TYPE_CHECKING:
    import numpy as np

_TIMES = 4000
_SEED = 20261120
_MANY = 1000
"""Means of more values than this are normally distributed, which needs no memory for draws."""
FEWEST = 5
"""Minimum number of values to estimate the spread."""
FEWEST_RUNS = 2
"""Minimum number of executions of each query to estimate their spread."""


def change_percent(
    before: Sequence[float], after: Sequence[float]
) -> tuple[float, float | None, float | None] | None:
    """Change of the mean from ``before`` to ``after`` in %, and its 95 % interval.

    Adjacent throughput values are correlated, so each mean has the t interval of an AR(1) series.
    The interval of their ratio is Fieller's (1954), from the two half widths.

    Returns:
        None without values or with a mean of zero before; no bounds for fewer than five values, or
        if the mean before is hardly distinguishable from zero.
    """
    if not before or not after or sum(before) <= 0:
        return None
    ratio = sum(after) / len(after) / (sum(before) / len(before))
    value = 100 * (ratio - 1)
    if min(len(before), len(after)) < FEWEST:
        return value, None, None
    first = (mean_error_percent(before) or 0.0) / 100
    second = (mean_error_percent(after) or 0.0) / 100  # without a mean there is nothing to scale
    if first >= 1:
        return value, None, None
    most = 1 - first**2
    half = math.sqrt(first**2 + second**2 * most)
    low, high = (100 * (ratio * bound / most - 1) for bound in (1 - half, 1 + half))
    return value, max(low, -100.0), high


def speed_percent(
    before: Mapping[str, Sequence[float]], after: Mapping[str, Sequence[float]]
) -> tuple[float, float | None, float | None] | None:
    """Change of speed of the queries in ``after`` in %, and its 95 % interval.

    Both have the seconds of each execution by query. The speed is that of the executions in
    ``after``: Σ mean seconds before / Σ seconds after − 1, over the queries in both.

    The interval is a bootstrap within each query, of both series, because all executions of a query
    are compared with the same mean. Each draws one value less than it has: with as many, the spread
    of few values would be too small (McCarthy and Snowden 1985).

    Returns:
        None without common queries or seconds; no bounds for fewer than five values, or if a query
        has one value before or after.
    """
    queries = [query for query, values in after.items() if values and before.get(query)]
    actual = sum(sum(after[query]) for query in queries)
    if actual <= 0:
        return None
    expected = sum(len(after[query]) * statistics.fmean(before[query]) for query in queries)
    value = 100 * (expected / actual - 1)
    counts = [len(values[query]) for values in (before, after) for query in queries]
    if min(counts) < FEWEST_RUNS or sum(len(after[query]) for query in queries) < FEWEST:
        return value, None, None
    import numpy as np

    rng = np.random.default_rng(_SEED)
    first, second = np.zeros(_TIMES), np.zeros(_TIMES)
    for query in queries:
        first += len(after[query]) * _drawn_means(before[query], rng)
        second += len(after[query]) * _drawn_means(after[query], rng)
    kept = second > 0
    low, high = np.percentile(100 * (first[kept] / second[kept] - 1), [2.5, 97.5])
    return value, float(low), float(high)


def _drawn_means(values: Sequence[float], rng: np.random.Generator) -> np.ndarray[Any, Any]:
    """Means of draws of one value less than there are."""
    import numpy as np

    series = np.asarray(values, dtype=float)
    if len(series) > _MANY:
        return rng.normal(series.mean(), series.std(ddof=1) / len(series) ** 0.5, _TIMES)
    return series[rng.integers(0, len(series), size=(_TIMES, len(series) - 1))].mean(axis=1)
