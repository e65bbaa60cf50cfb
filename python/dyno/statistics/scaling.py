"""Scaling of a metric with size: the exponent of a power law, and whether it is 1.

Each block of runs has its own slope on logarithms. The statistics of the exponent are those of the
slopes, so the interval includes what shifts or bends a whole block. Runs are not treated as
independent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from dyno.statistics.paired import CONFIDENCE, Floats, location

LINEAR = 0.05
"""Largest distance from 1 that is still linear: a doubling then gives a factor of 1.93 to 2.07."""

FEWEST_LEVELS = 3

Growth = Literal["linear", "less", "more", "inconclusive"]


@dataclass(frozen=True)
class Exponent:
    """The exponent of a power law.

    Attributes:
        value, low, high: The estimate and its interval.
        p: p value that it is 1.
        first, last: The exponents between the first two and the last two levels.
        bent: Whether the exponent changes over the levels significantly and by more than the
            linear margin.
    """

    value: float
    low: float
    high: float
    p: float
    first: float
    last: float
    bent: bool


def exponent(levels: Sequence[float], table: Floats, questions: int = 1) -> Exponent:
    """Estimates the exponent from logarithms: a row per block, a column per level, none missing.

    Args:
        levels: Ascending, above zero, at least three.
        table: At least two rows.
        questions: The number of questions asked together, see ``location``.
    """
    x = np.log(np.asarray(levels, float))
    line = x - x.mean()
    slopes = table @ line / (line @ line)
    found = location(slopes, CONFIDENCE, questions)
    against = location(slopes - 1, CONFIDENCE, questions)
    # The quadratic term, orthogonal to the line.
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
    """Classifies the growth of a metric by a test of equivalence.

    Linear requires an interval within 1 ± 0.05, even if it excludes 1, and no bend. Less and more
    require an interval without 1 and a p value below 5 %.

    Args:
        found: The exponent.
        p: p value adjusted for all questions; None for the exponent's own.
    """
    if found.low >= 1 - LINEAR and found.high <= 1 + LINEAR:
        return "inconclusive" if found.bent else "linear"
    if (found.p if p is None else p) > 1 - CONFIDENCE or found.low <= 1 <= found.high:
        return "inconclusive"
    return "less" if found.value < 1 else "more"
