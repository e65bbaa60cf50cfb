"""How much one variant shifts a metric against another, from pairs of runs.

A pair are two runs next to each other in time, so that a drift of the machine meets both alike. The
shift is a ratio, so it is the logarithms of ratios that are analysed: +25 % and -20 % are then
equally far from none, and what is faster by the factor 2 is not also slower by another one.

What is estimated is the pseudo-median: half of the averages of two pairs lie above it. Where noise
is symmetric it is the median and the mean too. No interval of few pairs covers the mean where the
noise of one variant is skewed (docs/decisions/0016).
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
"""Below it no interval by ranks has the confidence; of 6 it is from the smallest to the largest."""
_FEWEST_OF_MANY = 8
"""Below it ranks answer a single question only."""
_WITHIN_EXTREMES = 5
"""So many and fewer: the interval is never narrower than from the smallest value to the largest.

That stretch covers the median of any noise with a probability of 1 - 2 / 2^n, 93.75 % for 5.
"""
ESTIMAND = "pseudo-median"
"""What the interval covers, in one word."""
_ROOM_FOR_RANKS = 4
"""How often the least p value that ranks can have must fit into what one question is left with."""


@dataclass(frozen=True)
class Location:
    """Where values lie.

    Attributes:
        centre: The estimate of the pseudo-median, by Hodges and Lehmann.
        low, high: The interval at ``confidence``; infinite of a single value.
        p: That it is zero, by the test that the interval belongs to.
    """

    centre: float
    low: float
    high: float
    confidence: float
    p: float
    method: Method


@dataclass(frozen=True)
class Shift:
    """A shift of a figure in percent of the first variant's.

    Attributes:
        percent: The estimate of the pseudo-median.
        low, high: Its interval at ``confidence``; infinite with too few pairs.
        confidence: What the interval has, at least what was asked for.
        sd_percent: Standard deviation of the pairs' ratios.
        d_z: Cohen's d of pairs: the mean of the logarithms of ratios by their standard deviation;
            infinite without noise.
        p: That there is no shift, by the test that the interval belongs to.
        method: Of the interval and p: ``hodges-lehmann`` by signed ranks, or ``student`` on the
            logarithms of ratios where there are fewer pairs.
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
    """The shift from ``first`` to ``second``, which are as many figures, pair by pair.

    It is the location of the logarithms of ratios (``location``), one of ``questions`` that p is
    going to be adjusted for.

    Raises:
        ValueError: If there are not as many, none, or one is not above zero.
    """
    a, b = np.asarray(first, float), np.asarray(second, float)
    if len(a) != len(b) or not len(a):
        raise ValueError("as many figures of each are needed, and one at least")
    if not (np.all(np.isfinite(a)) and np.all(np.isfinite(b)) and np.all(a > 0) and np.all(b > 0)):
        raise ValueError("ratios need figures above zero")
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
    """Where ``values`` lie, of which there is one at least.

    The estimate is the median of all averages of two (Hodges & Lehmann 1963, Annals of Mathematical
    Statistics 34). With 6 values and more its interval inverts Wilcoxon's signed-rank test. With
    fewer it is Student's, and with 5 and fewer never narrower than from the smallest value to the
    largest. It covers the pseudo-median as it says also for heavy tails and for noise that is
    skewed on one side (benches/studies.txt). p belongs to the same test: with 5 and fewer a shift
    takes all values on one side of zero.

    Ranks of n values have no p value below 2 / 2^n: adjusted for many questions it would never be
    small, however large the shift. Where that is near Student's takes its place.

    Args:
        values: What lies somewhere.
        confidence: Of the interval.
        questions: How many are asked together, which p is going to be adjusted for.
    """
    averages = _averages(values)
    centre = float(np.median(averages))
    if ranks_tell(len(values), questions):
        low, high, held = _by_ranks(averages, len(values), confidence)
        return Location(centre, low, high, held, _rank_p(values), "hodges-lehmann")
    low, high = _by_student(values, confidence)
    p = _student_p(values)
    if len(values) <= _WITHIN_EXTREMES:
        least, most = float(np.min(values)), float(np.max(values))
        low, high = min(low, least), max(high, most)
        p = max(p, _rank_p(values)) if least <= 0 <= most else p
    return Location(centre, min(low, centre), max(high, centre), confidence, p, "student")


def ranks_tell(count: int, questions: int = 1) -> bool:
    """Whether signed ranks of so many values can answer one of so many questions."""
    least = 2.0 ** (1 - min(count, 1000))
    if FEWEST_FOR_RANKS <= count < _FEWEST_OF_MANY:
        return questions == 1
    return count >= _FEWEST_OF_MANY and _ROOM_FOR_RANKS * least * questions <= 1 - CONFIDENCE


def percent(log_ratio: float) -> float:
    """A logarithm of a ratio as a change in percent."""
    return math.inf if log_ratio > 700 else 100 * math.expm1(log_ratio)


def _averages(values: Floats) -> Floats:
    """Of each two values, and each value, from the smallest on."""
    i, j = np.triu_indices(len(values))
    return np.sort((values[i] + values[j]) / 2)


def _by_ranks(averages: Floats, count: int, confidence: float) -> tuple[float, float, float]:
    rank, held = _rank(count, confidence)
    return float(averages[rank - 1]), float(averages[len(averages) - rank]), held


def _rank(count: int, confidence: float) -> tuple[int, float]:
    """Which average from each end bounds the interval, and the confidence that it has.

    From the exact distribution of the signed-rank statistic, which is a sum of independent ranks.
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
    from scipy import special  # all of scipy.stats takes most of a second to import

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
