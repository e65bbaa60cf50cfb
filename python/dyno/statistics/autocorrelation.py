"""Fits for autocorrelated series. Pure functions on a rate per interval.

Disk noise is not white: a stall in one tenth of a second continues into the next. Treated as
independent, twenty values seem to be as significant as eight really are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dyno.statistics import student
from dyno.statistics.steady import Trend

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]
    """A one-dimensional series."""

MOST_ALIKE = 0.9
"""With a few dozen values, a larger correlation is indistinguishable from a random walk."""

_FEWEST = 5


def likeness(residuals: Sequence[Array], fitted: int) -> float:
    """Estimates the lag-1 correlation φ from the residuals of a fit to one or several stretches.

    A fit absorbs part of the correlation, so the plain estimate is too small: for m fitted
    parameters and n residuals by about m(1 + 3φ)/n. The result is corrected for this (after
    Marriott
    and Pope 1954, "Bias in the estimation of autocorrelations", for m = 1). It is never below 0,
    because negative values would make tests anti-conservative.
    """
    import numpy as np

    count = sum(len(part) for part in residuals)
    squares = sum(float(np.dot(part, part)) for part in residuals)
    if squares <= 0 or count <= 3 * fitted:
        return 0.0
    found = sum(float(np.dot(part[1:], part[:-1])) for part in residuals) / squares
    return min(max((found + fitted / count) / (1 - 3 * fitted / count), 0.0), MOST_ALIKE)


def fit(values: Array, places: Array, shape: Array, phi: float) -> tuple[float, float]:
    """Fits a constant and a multiple of a shape to a series with AR(1) noise, by least squares.

    The Prais-Winsten transformation makes the noise white. At places with a gap of g the noise
    correlates by φ^g.

    Args:
        values: The series.
        places: The positions of its values, ascending integers.
        shape: The shape at these positions.
        phi: The lag-1 correlation.

    Returns:
        The factor of the shape, and its standard error.
    """
    import numpy as np

    weights = phi ** np.diff(places)
    scales = np.sqrt(1 - weights**2)

    def white(series: Array) -> Array:
        return np.concatenate([series[:1], (series[1:] - weights * series[:-1]) / scales])

    columns = np.stack([white(np.ones(len(values))), white(shape.astype(float))], axis=1)
    goal = white(values)
    inverse = np.linalg.inv(columns.T @ columns)
    found = inverse @ columns.T @ goal
    left = goal - columns @ found
    variance = float(np.dot(left, left)) / (len(values) - 2) * float(inverse[1, 1])
    return float(found[1]), math.sqrt(max(variance, 0.0))


def trend_among_alike(values: Sequence[float]) -> Trend | None:
    """Fits a straight line to an autocorrelated series; Student's t, n − 2 degrees of freedom.

    Returns:
        None for fewer than five values or a mean of zero.
    """
    import numpy as np

    series = _usable(values)
    if series is None:
        return None
    count, mean = len(series), float(series.mean())
    places = np.arange(count)
    rough = np.polynomial.polynomial.polyfit(places, series, 1)
    left = series - np.polynomial.polynomial.polyval(places, rough)
    if float(np.abs(left).max()) <= 1e-9 * mean:  # a line up to float rounding
        left = np.zeros(count)
    slope, error = fit(series, places, places, likeness([left], 2))
    scale = 100.0 * (count - 1) / mean
    half = student.quantile(count - 2) * error
    return Trend(slope * scale, (slope - half) * scale, (slope + half) * scale)


def mean_error_percent(values: Sequence[float]) -> float | None:
    """Half of the 95 % interval of the mean of an autocorrelated series, in % of the mean.

    With f = 1 + 2 Σ (1 − k/n) φ^k the variance of the mean is σ²f/n, and the expected variance
    within the series is σ²(n − f)/(n − 1) (Priestley 1981, "Spectral analysis and time series",
    5.3).

    Returns:
        None for fewer than five values or a mean of zero.
    """
    import numpy as np

    series = _usable(values)
    if series is None:
        return None
    count, mean = len(series), float(series.mean())
    left = series - mean
    far = np.arange(1, count)
    factor = 1 + 2 * float(np.sum((1 - far / count) * likeness([left], 1) ** far))
    variance = float(np.dot(left, left)) / count * factor / (count - factor)
    return 100 * student.quantile(count - 1) * math.sqrt(variance) / mean


def _usable(values: Sequence[float]) -> Array | None:
    import numpy as np

    series = np.asarray(values, dtype=float)
    return series if len(series) >= _FEWEST and float(series.mean()) > 0 else None
