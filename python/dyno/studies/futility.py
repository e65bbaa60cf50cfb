"""Futility: whether the remaining runs can still answer the study. Pure."""

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
"""Fewer remaining pairs are not worth a stop."""
_TIMES = 2
"""Safety factor on the remaining pairs: few pairs give an uncertain noise estimate."""


def futility(
    study: Study, entries: Sequence[Entry], planned: int, time_s: float, dropped: Container[str]
) -> Futility | None:
    """Why the rest of a study is futile; None if it is not.

    It is futile if every headline comparison is inconclusive and, even at the lower 95 % bound of
    its noise, needs more than twice the remaining pairs to detect the margin or the observed shift,
    whichever is larger. A comparison whose interval excludes zero is never futile, so stopping
    cannot create a false difference. A/A tests and studies with more than two factor levels never
    stop early: their results use all runs.

    Args:
        study: The study's definition.
        entries: The runs so far.
        planned: Pairs not yet started.
        time_s: Seconds to the time limit; infinite without one.
        dropped: Dropped variants.
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
    """The futility of one comparison, or None."""
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
    """The reason for the early end, with the pairs needed."""
    takes = "10,000 pairs or more"
    if found.needed is not None:
        takes = f"about {found.needed:,} pairs, {seconds_text(found.needed * found.pair_s)}"
    return (
        f"the {found.left} remaining pairs are too few to detect {found.percent:g} %: "
        f"the noise of {found.metric} of '{found.variant}' between pairs is "
        f"{digits(found.sd_percent)} %, so detection needs {takes}"
    )
