"""Does a series fall from one level to another? A pure function on a rate by the interval."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dyno.statistics.autocorrelation import fit, likeness, trend_among_alike

if TYPE_CHECKING:
    from dyno.statistics.autocorrelation import Array

FEWEST = 10
"""Fewer values than that hold no two levels."""

LEAST_DROP_PERCENT = 10.0

_FEWEST_ASIDE = 5
_TRIMMED = 0.15
_EDGE = 2
"""Intervals at each side of a fall that may be of neither level: it falls within one, and what sets
a rate anew may hold everything back for a moment, or let pass what it had saved."""

_AT_ONCE = 0.7
"""Share of the fall between two values and the next but one: less, and it went down slowly."""

_MOST_SLOPE = 0.5
"""A level changes by less than that share of the fall."""


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
    """Where a series falls by a step and stays there, if it does.

    The cut that leaves the least squares round two means is taken. It is a fall if it is too large
    for noise whose neighbours are alike (`critical`), came at once, and both sides are level: each
    third of a side lies on its side of the middle, and no side slopes by half of the fall.

    Returns:
        None without a fall of at least 10 %, and for fewer than ten values.
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
    """The strength that a fall must have among so many values to be no noise.

    Of the noise of a disk, neighbours' correlation 0 to 0.7 and its spread not small beside the
    fall, at most about 1 % of series reach it; of less noise none fall by a tenth. Simulated:
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
    """Squared distances from their mean of the first value, of the first two, and so on."""
    import numpy as np

    # Distances from the first value: sums of squares of large numbers would lose digits.
    moved = series - series[0]
    sums = np.cumsum(moved)
    return np.maximum(np.cumsum(moved**2) - sums**2 / np.arange(1, len(series) + 1), 0.0)


def _strength(series: Array, at: int, edge: int) -> float:
    """The fall in units of its error; the most of what one gets without a value or two at it."""
    import numpy as np

    places = np.arange(len(series))
    sides = [series[: at - edge], series[at + edge :]]
    phi = likeness([side - side.mean() for side in sides], 2)
    best = 0.0
    for left, right in _edges(edge):
        kept = np.concatenate([places[: at - left], places[at + right :]])
        step, error = fit(series[kept], kept, kept >= at, phi)
        if step < 0:
            # Without noise nothing is left but the rounding of floats.
            best = max(best, -step / error if error > 1e-12 * -step else math.inf)
    return best


def _edges(edge: int) -> Iterator[tuple[int, int]]:
    """Values to leave out before and after the cut: two at most."""
    for left in range(edge + 1):
        for right in range(edge + 1 - left):
            yield left, right


def _at_once(series: Array, found: Drop) -> bool:
    """Most of the fall lies between two values and the next two, one between them left out."""
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
    """Whether a side certainly rises or falls, and by much."""
    line = trend_among_alike(side.tolist())
    if line is None:
        return False  # it stands still
    change = abs(line.percent) / 100 * float(side.mean())
    return change > _MOST_SLOPE * fall and not line.low <= 0 <= line.high
