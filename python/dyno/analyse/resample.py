"""Bootstrap intervals with a fixed seed: the same values give the same interval."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

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

    The interval is a moving block bootstrap (Künsch 1989) with blocks of ⌈n^(1/3)⌉ values, because
    adjacent throughput values are correlated. Each series is resampled separately.

    Returns:
        None without values or with a mean of zero before; no bounds for fewer than five values.
    """
    if not before or not after or sum(before) <= 0:
        return None
    mean = sum(before) / len(before)
    value = 100 * (sum(after) / len(after) / mean - 1)
    if min(len(before), len(after)) < FEWEST:
        return value, None, None
    import numpy as np

    rng = np.random.default_rng(_SEED)
    first, second = _means(before, rng), _means(after, rng)
    kept = first > 0
    low, high = np.percentile(100 * (second[kept] / first[kept] - 1), [2.5, 97.5])
    return value, float(low), float(high)


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


def _means(values: Sequence[float], rng: np.random.Generator) -> np.ndarray[Any, Any]:
    """Means of resampled series of equal length."""
    import numpy as np

    series = np.asarray(values, dtype=float)
    size = max(1, round(len(series) ** (1 / 3)))
    blocks = -(-len(series) // size)
    starts = rng.integers(0, len(series) - size + 1, size=(_TIMES, blocks))
    places = (starts[:, :, None] + np.arange(size)).reshape(_TIMES, -1)[:, : len(series)]
    return series[places].mean(axis=1)
