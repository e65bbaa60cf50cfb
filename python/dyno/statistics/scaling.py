"""How a figure grows with a size: the exponent of a power law, and whether it is 1.

Each block of runs has a slope of its own on logarithms; what is said of the exponent is said of
those slopes, so that what shifts a whole block, or bends it, is in the interval. Runs are not taken
for independent of each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from dyno.statistics.paired import CONFIDENCE, Floats, location

LINEAR = 0.05
"""How far from 1 an exponent is still linear: a doubling is then 1.93 to 2.07 times as much."""

FEWEST_LEVELS = 3

Growth = Literal["linear", "less", "more", "inconclusive"]


@dataclass(frozen=True)
class Exponent:
    """The exponent of a power law.

    Attributes:
        value, low, high: It, with its interval.
        p: That it is 1.
        first, last: The exponents between the first two and the last two levels.
        bent: Whether the exponent certainly changes over the levels by more than what is linear.
    """

    value: float
    low: float
    high: float
    p: float
    first: float
    last: float
    bent: bool


def exponent(levels: Sequence[float], table: Floats, questions: int = 1) -> Exponent:
    """Of the logarithms of a block in a row, of a level in a column, none missing.

    Args:
        levels: Rising, above zero, three at least.
        table: Two rows at least.
        questions: How many are asked together, see ``location``.
    """
    x = np.log(np.asarray(levels, float))
    line = x - x.mean()
    slopes = table @ line / (line @ line)
    found = location(slopes, CONFIDENCE, questions)
    against = location(slopes - 1, CONFIDENCE, questions)
    # What a square adds to the line, free of the line itself.
    square = line**2 - (line**2).mean() - line * (line**3).sum() / (line @ line)
    bends = location(table @ square / (square @ square))
    change = 2 * bends.centre * (x[-1] - x[0])
    steps = np.diff(table.mean(axis=0)) / np.diff(x)
    return Exponent(
        found.centre,
        found.low,
        found.high,
        against.p,
        float(steps[0]),
        float(steps[-1]),
        bends.p < 1 - CONFIDENCE and abs(change) > 2 * LINEAR,
    )


def growth(found: Exponent, p: float | None = None) -> Growth:
    """Whether a figure grows in proportion, as a test of equivalence says.

    Linear takes an interval inside 1 ± 0.05, also where it lies to one side of 1, and no bend;
    less and more take an interval without 1, and a p value below 5 %.

    Args:
        found: The exponent.
        p: Adjusted for all that were asked; None for its own.
    """
    if found.low >= 1 - LINEAR and found.high <= 1 + LINEAR:
        return "inconclusive" if found.bent else "linear"
    if (found.p if p is None else p) > 1 - CONFIDENCE or found.low <= 1 <= found.high:
        return "inconclusive"
    return "less" if found.value < 1 else "more"
