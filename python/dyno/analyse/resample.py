"""Bootstrap intervals with a fixed seed: the same values give the same interval."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

_TIMES = 4000
_SEED = 20261120
FEWEST = 5
"""Minimum number of values to estimate the spread."""


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


def ratio_percent(
    expected: Sequence[float], actual: Sequence[float]
) -> tuple[float, float | None, float | None] | None:
    """Change of speed Σ expected / Σ actual − 1 in %, and its 95 % bootstrap interval.

    Pairs are resampled together: the seconds of a query before and the seconds now.

    Returns:
        None without pairs or seconds; no bounds for fewer than five pairs.
    """
    if not expected or sum(actual) <= 0:
        return None
    value = 100 * (sum(expected) / sum(actual) - 1)
    if len(expected) < FEWEST:
        return value, None, None
    import numpy as np

    rng = np.random.default_rng(_SEED)
    picks = rng.integers(0, len(expected), size=(_TIMES, len(expected)))
    sums = np.asarray(expected)[picks].sum(axis=1), np.asarray(actual)[picks].sum(axis=1)
    low, high = np.percentile(100 * (sums[0] / sums[1] - 1), [2.5, 97.5])
    return value, float(low), float(high)


def _means(values: Sequence[float], rng: np.random.Generator) -> np.ndarray[Any, Any]:
    """Means of resampled series of equal length."""
    import numpy as np

    series = np.asarray(values, dtype=float)
    size = max(1, round(len(series) ** (1 / 3)))
    blocks = -(-len(series) // size)
    starts = rng.integers(0, len(series) - size + 1, size=(_TIMES, blocks))
    places = (starts[:, :, None] + np.arange(size)).reshape(_TIMES, -1)[:, : len(series)]
    return series[places].mean(axis=1)
