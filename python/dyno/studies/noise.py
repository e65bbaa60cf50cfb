"""A/A tests: the noise of a study, and the effects it can detect."""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Iterator, Sequence

from dyno.statistics.power import sd_interval
from dyno.studies.model import Study
from dyno.studies.outcome import Comparison, Noise, Reach
from dyno.studies.pairs import FEWEST, Valid, needed, sound
from dyno.studies.store import Entry

SHIFTS = (1.0, 2.0, 5.0, 10.0)
"""Shifts in percent."""


def noise(
    study: Study, entries: Sequence[Entry], valid: Valid, made: Sequence[Comparison]
) -> tuple[Noise, ...]:
    """The noise of each metric; empty unless all variants are the same."""
    if not same(study) or not valid:
        return ()
    took = pair_s(study, entries)
    found: list[Noise] = []
    for one in made:
        ratios = _ratios(valid, study.variants[0].name, one)
        if len(ratios) < FEWEST:
            continue
        sd = statistics.stdev(ratios)
        percents = [
            100 * math.expm1(min(value, 600.0)) for value in (sd, *sd_interval(sd, len(ratios)))
        ]
        found.append(
            Noise(
                metric=one.metric,
                headline=one.headline,
                pairs=len(ratios),
                sd_percent=percents[0],
                low=percents[1],
                high=percents[2],
                pair_s=took,
                reaches=tuple(_reaches(percents[0], took)),
            )
        )
    return tuple(found)


def same(study: Study) -> bool:
    """Whether all variants are the same."""
    first, *rest = (one.model_copy(update={"name": "", "levels": {}}) for one in study.variants)
    return len(rest) == 1 and rest[0] == first


def _ratios(valid: Valid, base: str, one: Comparison) -> list[float]:
    made: list[float] = []
    for pair in sorted({pair for pair, _ in valid}):
        runs = [valid.get((pair, name)) for name in (base, one.variant)]
        values = [run and sound(run, one.metric) for run in runs]
        if values[0] and values[1]:
            made.append(math.log(values[1]) - math.log(values[0]))
    return made


def pair_s(study: Study, entries: Sequence[Entry]) -> float:
    """The typical duration of a pair: the time between run starts, times the runs of a pair."""
    runs = sorted(entries, key=lambda one: one.started)
    lasted = [one.ended - one.started for one in runs]
    gaps = [later.started - one.ended for one, later in itertools.pairwise(runs)]
    each = statistics.median(lasted) + (max(statistics.median(gaps), 0.0) if gaps else 0.0)
    return max(each, 0.0) * len(study.variants)


def _reaches(sd_percent: float, pair_s: float) -> Iterator[Reach]:
    for shift in SHIFTS:
        pairs = needed(shift, sd_percent)
        if pairs is not None:
            yield Reach(percent=shift, pairs=pairs, minutes=pairs * pair_s / 60)
