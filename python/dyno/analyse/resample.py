"""Intervals by resampling, with a fixed seed: the same figures give the same interval."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

_TIMES = 4000
_SEED = 20261120
FEWEST = 5
"""Fewer values say nothing of their spread."""


def change_percent(
    before: Sequence[float], after: Sequence[float]
) -> tuple[float, float | None, float | None] | None:
    """Change of the mean of ``after`` against that of ``before``, in %, and its 95 % interval.

    The interval is that of a moving block bootstrap (Künsch 1989) with blocks of ⌈n^(1/3)⌉ values,
    as neighbours in a series of throughput are alike. Each series is drawn anew by itself.

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
    """Change of speed Σ expected / Σ actual − 1 in %, and its 95 % interval by the bootstrap.

    Pairs are drawn anew together: seconds that a query took before, and those that it took now.

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
    """Means of resampled series of the same length."""
    import numpy as np

    series = np.asarray(values, dtype=float)
    size = max(1, round(len(series) ** (1 / 3)))
    blocks = -(-len(series) // size)
    starts = rng.integers(0, len(series) - size + 1, size=(_TIMES, blocks))
    places = (starts[:, :, None] + np.arange(size)).reshape(_TIMES, -1)[:, : len(series)]
    return series[places].mean(axis=1)
