"""Step detection: does a series drop from one level to another? Pure, on a rate per interval."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dyno.statistics.autocorrelation import fit, likeness, trend_among_alike

if TYPE_CHECKING:
    from dyno.statistics.autocorrelation import Array

FEWEST = 10
"""Minimum number of values to detect two levels."""

LEAST_DROP_PERCENT = 10.0

_FEWEST_ASIDE = 5
_TRIMMED = 0.15
_EDGE = 2
"""Intervals on each side of a drop that may belong to neither level. The drop falls within one
interval, and a throttle may block everything for a moment or release a saved burst.
"""

_AT_ONCE = 0.7
"""Minimum share of the drop between a value and the next but one; less is a gradual decline."""

_MOST_SLOPE = 0.5
"""Maximum change within a level, as a share of the drop."""


@dataclass(frozen=True)
class Drop:
    """A drop from one level to another.

    Attributes:
        at: Index of the first value of the lower level.
        before, after: Means of the two levels, without the values next to the drop.
    """

    at: int
    before: float
    after: float

    @property
    def percent(self) -> float:
        """The size of the drop, in % of the level before."""
        return 100 * (1 - self.after / self.before)


def drop(values: Sequence[float]) -> Drop | None:
    """Finds where a series drops by a step and stays there.

    The cut minimizes the squares around two means. It is a drop if it exceeds autocorrelated noise
    (`critical`), is abrupt, and both sides are level: each third of a side is on its side of the
    midpoint, and no side slopes by half of the drop.

    Returns:
        None without a drop of at least 10 %, and for fewer than ten values.
    """
    import numpy as np

    series = np.asarray(values, dtype=float)
    count = len(series)
    if count < FEWEST:
        return None
    at = _cut(series)
    edge = max(0, min(_EDGE, at - _FEWEST_ASIDE, count - at - _FEWEST_ASIDE))
    first, second = series[: at - edge], series[at + edge :]
    found = Drop(at, float(first.mean()), float(second.mean()))
    if found.before <= 0 or found.percent < LEAST_DROP_PERCENT:
        return None
    sure = _strength(series, at, edge) >= critical(count)
    return found if sure and _at_once(series, found) and _levels(first, second) else None


def critical(count: int) -> float:
    """The strength at which a drop among ``count`` values is significant.

    For disk noise with a lag-1 correlation of 0 to 0.7 and a spread comparable to the drop, at most
    about 1 % of series reach it; with less noise none drop by a tenth. Simulated:
    ``benches/bench_steady.py``.
    """
    return 4 + 25 / count


def _cut(series: Array) -> int:
    import numpy as np

    count = len(series)
    aside = max(_FEWEST_ASIDE, math.ceil(_TRIMMED * count))
    cuts = np.arange(aside, count - aside + 1)
    squares = _squares(series)[cuts - 1] + _squares(series[::-1])[count - cuts - 1]
    return int(cuts[int(np.argmin(squares))])


def _squares(series: Array) -> Array:
    """Sums of squared deviations from the mean, for each prefix of the series."""
    import numpy as np

    # Deviations from the first value: sums of squares of large numbers would lose precision.
    moved = series - series[0]
    sums = np.cumsum(moved)
    return np.maximum(np.cumsum(moved**2) - sums**2 / np.arange(1, len(series) + 1), 0.0)


def _strength(series: Array, at: int, edge: int) -> float:
    """The drop in units of its error; the maximum with up to two values left out at the edge."""
    import numpy as np

    places = np.arange(len(series))
    sides = [series[: at - edge], series[at + edge :]]
    phi = likeness([side - side.mean() for side in sides], 2)
    best = 0.0
    for left, right in _edges(edge):
        kept = np.concatenate([places[: at - left], places[at + right :]])
        step, error = fit(series[kept], kept, kept >= at, phi)
        if step < 0:
            # Without noise only float rounding remains.
            best = max(best, -step / error if error > 1e-12 * -step else math.inf)
    return best


def _edges(edge: int) -> Iterator[tuple[int, int]]:
    """Numbers of values to leave out before and after the cut: two at most."""
    for left in range(edge + 1):
        for right in range(edge + 1 - left):
            yield left, right


def _at_once(series: Array, found: Drop) -> bool:
    """Whether most of the drop falls between two values and the next two, skipping one."""
    near = (
        float(series[place - 2 : place].mean() - series[place + 1 : place + 3].mean())
        for place in (found.at - 1, found.at, found.at + 1)
    )
    return max(near) >= _AT_ONCE * (found.before - found.after)


def _levels(first: Array, second: Array) -> bool:
    import numpy as np

    fall = float(first.mean() - second.mean())
    middle = float(second.mean()) + fall / 2
    above = min(float(part.mean()) for part in np.array_split(first, 3))
    below = max(float(part.mean()) for part in np.array_split(second, 3))
    return above > middle > below and not any(_slopes(side, fall) for side in (first, second))


def _slopes(side: Array, fall: float) -> bool:
    """Whether a side has a significant and large slope."""
    line = trend_among_alike(side.tolist())
    if line is None:
        return False  # constant
    change = abs(line.percent) / 100 * float(side.mean())
    return change > _MOST_SLOPE * fall and not line.low <= 0 <= line.high
