"""Steady state detection. Pure functions on throughput per interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dyno.statistics import student

BATCH = 5
FEWEST_BATCHES = 10
"""Minimum for MSER-5: with fewer batches the rule follows the noise."""

MOST_DISCARD_PERCENT = 50.0
"""If more than this is truncated as a warm-up, the series never settled."""

MOST_SLOPE_PERCENT = 10.0
"""A significant slope above this makes a series unsteady."""

_KEEP_BATCHES = 5

_FEWEST_MEANS, _MOST_MEANS = 10, 20
"""Minimum and maximum number of batches for the interval of a mean."""


@dataclass(frozen=True)
class Mser:
    """The truncation point of MSER-5.

    Attributes:
        batches: The number of batches of five in the series.
        cut: The number of batches to truncate as a warm-up.
    """

    batches: int
    cut: int

    @property
    def discard_percent(self) -> float:
        """The truncated share of the series; above 50 it never settled."""
        return 100.0 * self.cut / self.batches


def mser5(values: Sequence[float]) -> Mser | None:
    """MSER-5: means Z of batches of five; the cut d minimises Σ_{j>d}(Z_j − Z̄_d)² / (m − d)².

    After White 1997, "An effective truncation heuristic for bias reduction in simulation output",
    and White, Cobb and Spratt 2000. The last five batches are never truncated: with few values
    the statistic is small by chance.

    Returns:
        None for fewer than ten batches.
    """
    count = len(values) // BATCH
    if count < FEWEST_BATCHES:
        return None
    means = [sum(values[i * BATCH : (i + 1) * BATCH]) / BATCH for i in range(count)]
    best, best_score = 0, math.inf
    for cut in range(count - _KEEP_BATCHES + 1):
        rest = means[cut:]
        mean = sum(rest) / len(rest)
        score = sum((value - mean) ** 2 for value in rest) / len(rest) ** 2
        if score < best_score:
            best, best_score = cut, score
    return Mser(count, best)


def bias_percent(values: Sequence[float], cut: Mser) -> float:
    """Change of the mean by the MSER-5 truncation, in % of the truncated mean.

    On pure noise the rule truncates more than half of one in eight series of twenty batches, but
    that does not change the mean.
    """
    rest = values[cut.cut * BATCH :]
    settled = sum(rest) / len(rest)
    return 100 * abs(sum(values) / len(values) / settled - 1) if settled else 100.0


@dataclass(frozen=True)
class Trend:
    """A straight line through a series.

    Attributes:
        percent: Change from the first to the last value of the line, in % of the mean.
        low, high: Its 95 % interval.
    """

    percent: float
    low: float
    high: float


def trend(values: Sequence[float]) -> Trend | None:
    """Least squares over the index; interval from Student's t with n − 2 degrees of freedom.

    Returns:
        None for fewer than five values or a mean of zero.
    """
    from numpy.polynomial import polynomial

    count = len(values)
    mean = sum(values) / count if count else 0.0
    if count < 5 or mean <= 0:
        return None
    if max(values) == min(values):
        return Trend(0.0, 0.0, 0.0)
    fitted: Any = polynomial.polyfit(range(count), values, 1, full=True)
    (_, slope), (squares, *_) = fitted
    # Positions are 0 … n − 1; the sum of their squared deviations is n(n² − 1)/12.
    error = math.sqrt(float(squares[0]) / (count - 2) / (count * (count**2 - 1) / 12))
    scale = 100.0 * (count - 1) / mean
    half, slope = student.quantile(count - 2) * error, float(slope)
    return Trend(slope * scale, (slope - half) * scale, (slope + half) * scale)


def settled(values: Sequence[float], least: int) -> int | None:
    """Returns the start index of the steady stretch at the end of a series.

    MSER-5 truncates the warm-up. The rest must hold at least ``least`` values and the fifty that
    MSER-5 needs, must not contain another warm-up, and must have no slope: none above 10 % of the
    mean with a 95 % interval that excludes zero.

    Returns:
        The index of its first value; None while there is no such stretch.
    """
    cut = mser5(values)
    if cut is None or cut.discard_percent > MOST_DISCARD_PERCENT:
        return None
    start = cut.cut * BATCH
    rest = values[start:]
    again, line = mser5(rest), trend(rest)
    if len(rest) < least or again is None or line is None:
        return None
    if again.discard_percent > MOST_DISCARD_PERCENT:
        return None
    slopes = not line.low <= 0 <= line.high and abs(line.percent) > MOST_SLOPE_PERCENT
    return None if slopes else start


def half_width(values: Sequence[float]) -> float | None:
    """Half of the 95 % interval of the mean of a steady series, by batch means.

    Adjacent values are correlated, so they are grouped into ten to twenty batches of equal length.
    The interval is Student's t on the batch means (Schmeiser 1982, "Batch size effects in the
    analysis of simulation output"). Values at the start that fill no batch are left out.

    Returns:
        None for fewer than ten values.
    """
    count = len(values)
    if count < _FEWEST_MEANS:
        return None
    batches = max(_FEWEST_MEANS, min(_MOST_MEANS, count // BATCH))
    size = count // batches
    rest = values[count - batches * size :]
    means = [sum(rest[at : at + size]) / size for at in range(0, len(rest), size)]
    mean = sum(means) / batches
    variance = sum((value - mean) ** 2 for value in means) / (batches - 1)
    return student.quantile(batches - 1) * math.sqrt(variance / batches)


def variation_percent(values: Sequence[float]) -> float | None:
    """Coefficient of variation: sample standard deviation in % of the mean.

    Returns:
        None for fewer than two values or a mean of zero.
    """
    count = len(values)
    mean = sum(values) / count if count else 0.0
    if count < 2 or mean <= 0:
        return None
    variance = sum((value - mean) ** 2 for value in values) / (count - 1)
    return 100.0 * math.sqrt(variance) / mean
