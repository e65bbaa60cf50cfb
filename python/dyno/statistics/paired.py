"""Shift of a metric between two variants, from pairs of runs.

A pair is two runs adjacent in time, so machine drift affects both equally. The shift is a ratio, so
the analysis uses logarithms of ratios: +25 % and -20 % are then equally far from zero, and the
result does not depend on which variant comes first.

The estimand is the pseudo-median: half of the averages of two pairs exceed it. With symmetric noise
it equals the median and the mean. With few pairs, no interval covers the mean if the noise of one
variant is skewed (docs/decisions/0016).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

Method = Literal["hodges-lehmann", "student"]
Floats = npt.NDArray[np.float64]

CONFIDENCE = 0.95
FEWEST_PAIRS = 3
FEWEST_FOR_RANKS = 6
"""Below this, no rank interval has the confidence; with 6 it spans minimum to maximum."""
_FEWEST_OF_MANY = 8
"""Below this, ranks can only answer a single question."""
_WITHIN_EXTREMES = 5
"""Up to this number of values, the interval is never narrower than minimum to maximum.

That range covers the median of any noise with a probability of 1 - 2 / 2^n, 93.75 % for 5.
"""
ESTIMAND = "pseudo-median"
"""The name of the estimand."""
_LEAST_ALPHA_RATIO = 4
"""Minimum ratio of the alpha per question to the smallest p value of the rank test."""


@dataclass(frozen=True)
class Location:
    """Location of a sample.

    Attributes:
        centre: The Hodges-Lehmann estimate of the pseudo-median.
        low, high: The interval at ``confidence``; infinite for a single value.
        p: p value that the location is zero, by the test that matches the interval.
    """

    centre: float
    low: float
    high: float
    confidence: float
    p: float
    method: Method


@dataclass(frozen=True)
class Shift:
    """Shift of a metric in percent of the first variant.

    Attributes:
        percent: The estimate of the pseudo-median.
        low, high: Its interval at ``confidence``; infinite with too few pairs.
        confidence: The actual confidence of the interval, at least the requested one.
        sd_percent: Standard deviation of the ratios of pairs.
        d_z: Cohen's d of pairs: the mean of the log ratios divided by their standard deviation;
            infinite without noise.
        p: p value of no shift, by the test that matches the interval.
        method: Method of interval and p: ``hodges-lehmann`` by signed ranks, or ``student`` on the
            log ratios with fewer pairs.
    """

    percent: float
    low: float
    high: float
    confidence: float
    pairs: int
    sd_percent: float
    p: float
    method: Method
    d_z: float


def shift(
    first: Sequence[float],
    second: Sequence[float],
    confidence: float = CONFIDENCE,
    questions: int = 1,
) -> Shift:
    """Estimates the shift from ``first`` to ``second``, which hold one value per pair.

    The shift is the location of the log ratios (``location``), one of ``questions`` that p will be
    adjusted for.

    Raises:
        ValueError: If the lengths differ, there are no values, or one is not above zero.
    """
    a, b = np.asarray(first, float), np.asarray(second, float)
    if len(a) != len(b) or not len(a):
        raise ValueError("as many values of each are needed, and one at least")
    if not (np.all(np.isfinite(a)) and np.all(np.isfinite(b)) and np.all(a > 0) and np.all(b > 0)):
        raise ValueError("ratios need values above zero")
    logs = np.log(b) - np.log(a)
    sd = float(np.std(logs, ddof=1)) if len(logs) > 1 else math.inf
    mean = float(np.mean(logs))
    found = location(logs, confidence, questions)
    return Shift(
        percent(found.centre),
        percent(found.low),
        percent(found.high),
        found.confidence,
        len(logs),
        percent(sd),
        found.p,
        found.method,
        mean / sd if sd > 0 else (math.copysign(math.inf, mean) if mean else 0.0),
    )


def location(values: Floats, confidence: float = CONFIDENCE, questions: int = 1) -> Location:
    """Estimates the location of ``values``, at least one.

    The estimate is the median of all averages of two (Hodges & Lehmann 1963, Annals of Mathematical
    Statistics 34). With 6 or more values the interval inverts Wilcoxon's signed-rank test. With
    fewer it is Student's, and with 5 or fewer never narrower than minimum to maximum. It keeps its
    coverage of the pseudo-median for heavy tails and for noise skewed on one side
    (benches/studies.txt). p belongs to the same test: with 5 or fewer values, significance requires
    all values on one side of zero.

    Ranks of n values have no p value below 2 / 2^n. Adjusted for many questions it would never be
    small, however large the shift. Near that limit, Student's t is used instead.

    Args:
        values: The sample.
        confidence: The confidence of the interval.
        questions: The number of questions that p will be adjusted for.
    """
    averages = _averages(values)
    centre = float(np.median(averages))
    if ranks_suffice(len(values), questions):
        low, high, held = _by_ranks(averages, len(values), confidence)
        return Location(centre, low, high, held, _rank_p(values), "hodges-lehmann")
    low, high = _by_student(values, confidence)
    p = _student_p(values)
    if len(values) <= _WITHIN_EXTREMES:
        least, most = float(np.min(values)), float(np.max(values))
        low, high = min(low, least), max(high, most)
        p = max(p, _rank_p(values)) if least <= 0 <= most else p
    return Location(centre, min(low, centre), max(high, centre), confidence, p, "student")


def ranks_suffice(count: int, questions: int = 1) -> bool:
    """Whether signed ranks of ``count`` values can answer one of ``questions``."""
    least = 2.0 ** (1 - min(count, 1000))
    if FEWEST_FOR_RANKS <= count < _FEWEST_OF_MANY:
        return questions == 1
    return count >= _FEWEST_OF_MANY and _LEAST_ALPHA_RATIO * least * questions <= 1 - CONFIDENCE


def percent(log_ratio: float) -> float:
    """Converts a log ratio to a change in percent."""
    return math.inf if log_ratio > 700 else 100 * math.expm1(log_ratio)


def _averages(values: Floats) -> Floats:
    """The averages of all pairs of values, and each value, sorted."""
    i, j = np.triu_indices(len(values))
    return np.sort((values[i] + values[j]) / 2)


def _by_ranks(averages: Floats, count: int, confidence: float) -> tuple[float, float, float]:
    rank, held = _rank(count, confidence)
    return float(averages[rank - 1]), float(averages[len(averages) - rank]), held


def _rank(count: int, confidence: float) -> tuple[int, float]:
    """Returns which average from each end bounds the interval, and its actual confidence.

    Uses the exact distribution of the signed-rank statistic, a sum of independent ranks.
    """
    ways = np.ones(1)
    for rank in range(1, count + 1):
        with_it = np.zeros(len(ways) + rank)
        with_it[: len(ways)] += ways
        with_it[rank:] += ways
        ways = with_it
    below = np.cumsum(ways) / 2.0**count
    rank = int(np.searchsorted(below, (1 - confidence) / 2, side="right"))
    return max(rank, 1), 1 - 2 * float(below[max(rank, 1) - 1])


def _by_student(values: Floats, confidence: float) -> tuple[float, float]:
    if len(values) < 2:
        return -math.inf, math.inf
    mean = float(np.mean(values))
    reach = _quantile((1 + confidence) / 2, len(values) - 1) * float(np.std(values, ddof=1))
    reach /= math.sqrt(len(values))
    return mean - reach, mean + reach


def _student_p(logs: Floats) -> float:
    from scipy import special  # importing all of scipy.stats takes most of a second

    if len(logs) < 2:
        return 1.0
    error = float(np.std(logs, ddof=1)) / math.sqrt(len(logs))
    if error == 0:
        return 1.0 if float(np.mean(logs)) == 0 else 0.0
    return 2 * float(special.stdtr(len(logs) - 1, -abs(float(np.mean(logs))) / error))


def _rank_p(logs: Floats) -> float:
    from scipy.stats import wilcoxon

    if np.all(logs == 0):
        return 1.0
    found: Any = wilcoxon(logs)
    return float(found.pvalue)


def _quantile(share: float, freedom: int) -> float:
    from scipy import special

    return float(special.stdtrit(freedom, share))
