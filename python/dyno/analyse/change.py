"""Does a series fall from one level to another? A pure function on a rate by the interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dyno.analyse.steady import MOST_SLOPE_PERCENT, trend

if TYPE_CHECKING:
    import numpy as np

FEWEST = 10
"""Fewer values than that hold no two levels."""

LEAST_DROP_PERCENT = 20.0

_FEWEST_ASIDE = 5
_TRIMMED = 0.15
_EDGE = 2
"""Intervals at each side of a fall that may be of neither level: it falls within one, and what sets
a rate anew may hold everything back for a moment, or let pass what it had saved."""

_FEWEST_MEANS = 6

_QUARTILES = 1.349
"""The distance of the quartiles of a normal distribution, in standard deviations."""

_CRITICAL = 12.16
"""Andrews 2003, "Tests for parameter instability: a corrigendum": the 1 % value of the largest F of
one parameter where 15 % of the series at each end are left out."""


@dataclass(frozen=True)
class Drop:
    """A fall from one level to another.

    Attributes:
        at: Index of the first value of the lower level.
        before, after: Means of the two levels, a little away from the fall.
    """

    at: int
    before: float
    after: float

    @property
    def percent(self) -> float:
        """By how much it fell, in % of the level before."""
        return 100 * (1 - self.after / self.before)


def drop(values: Sequence[float]) -> Drop | None:
    """Where a series falls by a step, if it does.

    The cut that leaves the least squares round two means is taken; it is a change if two means
    are so much better than one that the largest F of all cuts passes its critical value. A slope or
    noise is none: each side must be level, with no slope above 10 % and a spread of at most half of
    the fall. Two values at each side of the cut may be of neither level, where enough are left.

    Returns:
        None without a fall of at least 20 %, and for fewer than ten values.
    """
    import numpy as np

    series = np.asarray(values, dtype=float)
    count = len(series)
    if count < FEWEST:
        return None
    aside = max(_FEWEST_ASIDE, math.ceil(_TRIMMED * count))
    cuts = np.arange(aside, count - aside + 1)
    left = _squares(series)[cuts - 1]
    right = _squares(series[::-1])[count - cuts - 1]
    one, two = float(_squares(series)[-1]), left + right
    best = int(np.argmin(two))
    at, rest = int(cuts[best]), float(two[best])
    if rest > 0 and (one - rest) * (count - 2) / rest < _CRITICAL:
        return None
    edge = max(0, min(_EDGE, at - _FEWEST_ASIDE, count - at - _FEWEST_ASIDE))
    first, second = values[: at - edge], values[at + edge :]
    found = Drop(at, sum(first) / len(first), sum(second) / len(second))
    if found.before <= 0 or found.percent < LEAST_DROP_PERCENT:
        return None
    return found if all(_level(side, found.percent) for side in (first, second)) else None


def _squares(series: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Squared distances from their mean of the first value, of the first two, and so on."""
    import numpy as np

    # Distances from the first value: sums of squares of large numbers would lose digits.
    moved = series - series[0]
    sums = np.cumsum(moved)
    return np.maximum(np.cumsum(moved**2) - sums**2 / np.arange(1, len(series) + 1), 0.0)


def _level(values: Sequence[float], drop_percent: float) -> bool:
    line, spread = trend(values), _spread_percent(values)
    if line is None or spread is None:
        return not any(values)  # it stands still
    slopes = not line.low <= 0 <= line.high and abs(line.percent) > MOST_SLOPE_PERCENT
    return not slopes and spread <= drop_percent / 2


def _spread_percent(values: Sequence[float]) -> float | None:
    """The standard deviation that the quartiles of normal values would tell, in % of the median.

    Of means of a few neighbours each, where there are many: what is held back in one interval comes
    with the next, and a moment in which everything stood still counts little.
    """
    import numpy as np

    size = max(1, len(values) // _FEWEST_MEANS)
    means = [sum(values[at : at + size]) / size for at in range(0, len(values) - size + 1, size)]
    low, median, high = (float(value) for value in np.quantile(means, (0.25, 0.5, 0.75)))
    return 100 * (high - low) / _QUARTILES / median if median > 0 else None
