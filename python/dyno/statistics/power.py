"""What effect a study can find, and how many pairs an effect takes."""

from __future__ import annotations

import math

from dyno.statistics.paired import CONFIDENCE, FEWEST_PAIRS, percent

POWER = 0.8
MOST_PAIRS = 10_000

_ALONE = {5: 1.811, 6: 1.794, 7: 1.331, 8: 1.249}
"""Standard deviations by which so many pairs must shift to be found four times of five.

It is more than Student's test takes, 8 % for 5 pairs and 25 % for 6, since the interval reaches to
the extremes, or is one of few ranks. Of one question at 95 %, from a million simulated studies.
"""
_ALONE_BELOW = 0.97


def smallest_effect(
    sd_percent: float, pairs: int, power: float = POWER, confidence: float = CONFIDENCE
) -> float:
    """The smallest shift in percent that ``pairs`` find with ``power``; infinite below two.

    By the noncentral distribution of Student's t, not the rule of 2.8 σ√(2/n), which is too
    hopeful for few pairs. Of 5 to 8 pairs and one question see ``_ALONE``.

    Args:
        sd_percent: Standard deviation of the ratios of pairs.
        pairs: How many there are.
        power: The share of studies that are to find it.
        confidence: Of the interval that must not hold zero.
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
    """How many pairs find a shift of ``effect_percent`` with ``power``; at most 10,000."""
    low, high = FEWEST_PAIRS, MOST_PAIRS
    while low < high:
        middle = (low + high) // 2
        if smallest_effect(sd_percent, middle, power, confidence) <= abs(effect_percent):
            high = middle
        else:
            low = middle + 1
    return low


def sd_interval(sd: float, count: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """The interval of a standard deviation of ``count`` values, two at least, by chi squared."""
    from scipy import special

    freedom = count - 1
    low, high = (
        float(special.chdtri(freedom, tail))
        for tail in ((1 - confidence) / 2, (1 + confidence) / 2)
    )
    return sd * math.sqrt(freedom / low), sd * math.sqrt(freedom / high)


def _noncentrality(pairs: int, power: float, confidence: float) -> float:
    """By how many standard errors a shift must differ from none to be found so often."""
    from scipy import special

    freedom = pairs - 1
    critical = float(special.stdtrit(freedom, (1 + confidence) / 2))
    return float(special.nctdtrinc(freedom, 1 - power, critical))
