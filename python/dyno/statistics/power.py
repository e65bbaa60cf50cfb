"""Power: the smallest detectable effect, and the pairs needed for an effect."""

from __future__ import annotations

import math

from dyno.statistics.paired import CONFIDENCE, FEWEST_PAIRS, percent

POWER = 0.8
MOST_PAIRS = 10_000

_ALONE = {5: 1.811, 6: 1.794, 7: 1.331, 8: 1.249}
"""Shift in standard deviations that so many pairs detect with 80 % power.

It exceeds the value of Student's test, by 8 % for 5 pairs and 25 % for 6, because the interval
spans the extremes or uses few ranks. For one question at 95 %, from a million simulated studies.
"""
_ALONE_BELOW = 0.97


def smallest_effect(
    sd_percent: float, pairs: int, power: float = POWER, confidence: float = CONFIDENCE
) -> float:
    """The smallest shift in percent that ``pairs`` detect with ``power``; infinite below two.

    Uses the noncentral t distribution. The rule of 2.8 σ√(2/n) is too optimistic for few pairs. For
    5 to 8 pairs and one question see ``_ALONE``.

    Args:
        sd_percent: Standard deviation of the ratios of pairs.
        pairs: The number of pairs.
        power: The share of studies that must detect the shift.
        confidence: The confidence of the interval that must exclude zero.
    """
    if pairs < 2:
        return math.inf
    reach = _noncentrality(pairs, power, confidence) / math.sqrt(pairs)
    if power == POWER and confidence < _ALONE_BELOW:
        reach = max(reach, _ALONE.get(pairs, 0.0))
    return percent(math.log1p(sd_percent / 100) * reach)


def pairs_for(
    effect_percent: float, sd_percent: float, power: float = POWER, confidence: float = CONFIDENCE
) -> int:
    """The number of pairs that detect ``effect_percent`` with ``power``; at most 10,000."""
    low, high = FEWEST_PAIRS, MOST_PAIRS
    while low < high:
        middle = (low + high) // 2
        if smallest_effect(sd_percent, middle, power, confidence) <= abs(effect_percent):
            high = middle
        else:
            low = middle + 1
    return low


def sd_interval(sd: float, count: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """The chi-squared interval of a standard deviation of ``count`` values, at least two."""
    from scipy import special

    freedom = count - 1
    low, high = (
        float(special.chdtri(freedom, tail))
        for tail in ((1 - confidence) / 2, (1 + confidence) / 2)
    )
    return sd * math.sqrt(freedom / low), sd * math.sqrt(freedom / high)


def _noncentrality(pairs: int, power: float, confidence: float) -> float:
    """The shift in standard errors that is detected with ``power``."""
    from scipy import special

    freedom = pairs - 1
    critical = float(special.stdtrit(freedom, (1 + confidence) / 2))
    return float(special.nctdtrinc(freedom, 1 - power, critical))
