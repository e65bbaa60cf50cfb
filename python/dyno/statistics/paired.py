"""How much one variant shifts a figure against another, from pairs of runs.

A pair are two runs next to each other in time, so that a drift of the machine meets both alike. The
shift is a ratio, so logarithms of ratios are what is averaged: +25 % and -20 % are then equally far
from none, and a figure that is faster by the factor 2 is not also slower by another one.
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
FEWEST_FOR_RANKS = 8
"""Below it an interval by ranks is a stretch between the extremes, or has not the confidence."""
_ROOM_FOR_RANKS = 4
"""How often the least p value that ranks can have must fit into what one question is left with."""


@dataclass(frozen=True)
class Location:
    """Where values lie.

    Attributes:
        centre: The estimate.
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
        percent: The estimate.
        low, high: The interval at ``confidence``; infinite with too few pairs.
        confidence: What the interval has, at least what was asked for.
        sd_percent: Standard deviation of the pairs' ratios.
        d_z: Cohen's d of pairs: the mean of the logarithms of ratios by their standard deviation;
            infinite without noise.
        p: That there is no shift, by the test that the interval belongs to.
        method: ``hodges-lehmann`` with its interval by signed ranks, or ``student`` on the
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

    With 8 and more it is the Hodges-Lehmann estimate, the median of all averages of two (Hodges &
    Lehmann 1963, Annals of Mathematical Statistics 34), with the interval that inverts Wilcoxon's
    signed-rank test; below, the mean with Student's interval, which holds its confidence also for
    heavy tails and two modes (benches/studies.txt).

    Ranks of n values have no p value below 2 / 2^n: adjusted for many questions it would never be
    small, however large the shift. Where that is near Student's takes its place, whose tails are
    thinner than promised, not thicker, where noise has heavy ones, two modes or a skew.

    Args:
        values: What lies somewhere.
        confidence: Of the interval.
        questions: How many are asked together, which p is going to be adjusted for.
    """
    if ranks_tell(len(values), questions):
        return Location(*_by_ranks(values, confidence), _rank_p(values), "hodges-lehmann")
    return Location(*_by_student(values, confidence), _student_p(values), "student")


def ranks_tell(count: int, questions: int = 1) -> bool:
    """Whether signed ranks of so many values can answer one of so many questions."""
    least = 2.0 ** (1 - min(count, 1000))
    return count >= FEWEST_FOR_RANKS and _ROOM_FOR_RANKS * least * questions <= 1 - CONFIDENCE


def percent(log_ratio: float) -> float:
    """A logarithm of a ratio as a change in percent."""
    return math.inf if log_ratio > 700 else 100 * math.expm1(log_ratio)


def _by_ranks(logs: Floats, confidence: float) -> tuple[float, float, float, float]:
    i, j = np.triu_indices(len(logs))
    averages = np.sort((logs[i] + logs[j]) / 2)
    rank, held = _rank(len(logs), confidence)
    return (
        float(np.median(averages)),
        float(averages[rank - 1]),
        float(averages[len(averages) - rank]),
        held,
    )


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


def _by_student(logs: Floats, confidence: float) -> tuple[float, float, float, float]:
    centre = float(np.mean(logs))
    if len(logs) < 2:
        return centre, -math.inf, math.inf, confidence
    reach = _quantile((1 + confidence) / 2, len(logs) - 1) * float(np.std(logs, ddof=1))
    reach /= math.sqrt(len(logs))
    return centre, centre - reach, centre + reach, confidence


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
