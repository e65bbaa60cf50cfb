"""Whether the runs that are left of a study could still answer it; pure."""

from __future__ import annotations

import math
from collections.abc import Container, Sequence

from dyno.config.units import digits, seconds_text
from dyno.statistics.paired import FEWEST_PAIRS, percent
from dyno.statistics.power import sd_interval
from dyno.studies.model import Study
from dyno.studies.noise import pair_s, same
from dyno.studies.outcome import Comparison, Futility
from dyno.studies.pairs import comparisons, counted, needed
from dyno.studies.store import Entry

_FEWEST_LEFT = 2
"""Pairs whose time is worth saving."""
_TIMES = 2
"""How often the pairs that are left must be too few: the spread is known from few pairs."""


def futility(
    study: Study, entries: Sequence[Entry], planned: int, time_s: float, dropped: Container[str]
) -> Futility | None:
    """Why the rest of a study is in vain; None if it may find something.

    It is in vain if every headline comparison is open, and even by the lower 95 % bound of its
    spread takes more than twice the pairs that are left, for a shift of the margin or of what was
    seen, whichever is larger. A comparison whose interval holds no zero is never in vain, so that
    stopping makes no difference out of none. Studies that measure the noise itself go on, and so
    do those with more than two levels of factors, whose effects rest on all runs together.

    Args:
        study: What was asked.
        entries: The runs until now.
        planned: Pairs that have not begun.
        time_s: Until the time limit; infinite if there is none.
        dropped: Variants that were left out of the rest.
    """
    pair = pair_s(study, entries) if entries else 0.0
    left = min(planned, math.ceil(time_s / pair)) if pair and math.isfinite(time_s) else planned
    many = bool(study.factors) and len(study.variants) > 2
    if not study.early_stop or left < _FEWEST_LEFT or many or same(study):
        return None
    names = {variant.name for variant in study.variants}
    counts = counted(entry for entry in entries if entry.variant in names)
    asked = [
        one
        for one in comparisons(study, counts, {}, headline_only=True)
        if one.variant not in dropped
    ]
    found = [_futile(study, one, left, pair) for one in asked]
    futile = [one for one in found if one is not None]
    if not futile or len(futile) < len(found):
        return None
    return min(futile, key=lambda one: (one.least is None, one.least, one.sd_percent))


def _futile(study: Study, one: Comparison, left: int, pair: float) -> Futility | None:
    """That nothing more can be learnt of one comparison, if so."""
    if one.pairs < FEWEST_PAIRS or None in (one.percent, one.low, one.high, one.sd_percent):
        return None
    shift, low, high, sd = (
        float(x or 0.0) for x in (one.percent, one.low, one.high, one.sd_percent)
    )
    if not low <= 0 <= high or (-study.margin <= low and high <= study.margin):
        return None
    least_sd = percent(sd_interval(math.log1p(sd / 100), one.pairs)[0])
    least = needed(max(study.margin, abs(shift)), least_sd)
    if least is not None and least - one.pairs <= _TIMES * left:
        return None
    return Futility(
        variant=one.variant,
        metric=one.metric,
        percent=study.margin,
        sd_percent=sd,
        pairs=one.pairs,
        left=left,
        least=least,
        needed=one.needed,
        pair_s=pair,
    )


def words(found: Futility) -> str:
    """It as the reason why a study ended, with what it would have taken."""
    takes = "10,000 pairs or more"
    if found.needed is not None:
        takes = f"about {found.needed:,} pairs, {seconds_text(found.needed * found.pair_s)}"
    return (
        f"the {found.left} pairs left are too few to find a shift of {found.percent:g} %: "
        f"{found.metric} of '{found.variant}' varies by {digits(found.sd_percent)} % from pair to "
        f"pair, and finding it takes {takes}"
    )
