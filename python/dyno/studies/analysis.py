"""From the runs of a study to what they say: pure, so that anybody can do it again."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dyno.statistics.multiple import adjusted
from dyno.statistics.paired import shift
from dyno.statistics.power import pairs_for, smallest_effect
from dyno.statistics.verdict import verdict
from dyno.studies.book import Entry
from dyno.studies.metrics import owner
from dyno.studies.model import Study
from dyno.studies.outcome import Comparison, Drift, Outcome


def counted(entries: Iterable[Entry]) -> dict[tuple[int, str], Entry]:
    """The last valid run of each pair and variant."""
    return {(entry.pair, entry.variant): entry for entry in entries if entry.valid}


def outcome(study: Study, entries: Sequence[Entry]) -> Outcome:
    """All comparisons with the first variant."""
    valid = counted(entries)
    out = _disqualified(study, entries)
    shifts = [
        (name, metric, headline, found)
        for name in [variant.name for variant in study.variants[1:]]
        for metric, headline in _metrics(study, valid.values())
        for found in [_paired(study, valid, name, metric)]
    ]
    p = _adjusted(shifts)
    return Outcome(
        comparisons=tuple(
            _comparison(study, item, p.get((item[0], item[1])), out.get(item[0], ""))
            for item in shifts
        ),
        drift=tuple(_drifts(study, valid.values())),
        runs=len(entries),
        invalid=sum(not entry.valid for entry in entries),
        disqualified=out,
    )


Pairs = tuple[list[float], list[float]]
Asked = tuple[str, str, bool, Pairs]


def _metrics(study: Study, entries: Iterable[Entry]) -> list[tuple[str, bool]]:
    """Names of the values that any run has, headline ones first."""
    names = dict.fromkeys(name for entry in entries for name in entry.figures)
    headline = [name for name in names if owner(name).name in study.headline]
    rest = [name for name in names if name not in headline]
    return [(name, True) for name in headline] + [(name, False) for name in rest]


def _paired(study: Study, valid: Mapping[tuple[int, str], Entry], name: str, metric: str) -> Pairs:
    first = study.variants[0].name
    both = [
        (valid[pair, first].figures.get(metric), valid[pair, name].figures.get(metric))
        for pair in range(study.pairs)
        if (pair, first) in valid and (pair, name) in valid
    ]
    sound = [(a, b) for a, b in both if a and b and a > 0 and b > 0]
    return [a for a, _ in sound], [b for _, b in sound]


def _adjusted(shifts: Sequence[Asked]) -> dict[tuple[str, str], float]:
    found: dict[tuple[str, str], float] = {}
    for headline in (True, False):
        own = {
            f"{name}\0{metric}": shift(*pairs).p
            for name, metric, is_headline, pairs in shifts
            if is_headline == headline and len(pairs[0]) > 1
        }
        for key, value in adjusted(own, "headline" if headline else "exploratory").items():
            name, _, metric = key.partition("\0")
            found[name, metric] = value
    return found


def _comparison(study: Study, asked: Asked, p: float | None, disqualified: str) -> Comparison:
    name, metric, headline, (first, second) = asked
    if len(first) < 2:
        return Comparison(
            variant=name, metric=metric, headline=headline, pairs=len(first),
            disqualified=disqualified,
        )  # fmt: skip
    found = shift(first, second)
    said = verdict(found, study.margin, owner(metric).wish, p)
    if disqualified and said == "better":
        said = "inconclusive"
    return Comparison(
        variant=name,
        metric=metric,
        headline=headline,
        pairs=found.pairs,
        first=statistics.median(first),
        second=statistics.median(second),
        percent=found.percent,
        low=found.low,
        high=found.high,
        confidence=found.confidence,
        p=p,
        method=found.method,
        smallest=smallest_effect(found.sd_percent, found.pairs),
        needed=pairs_for(study.margin, found.sd_percent),
        verdict=said,
        disqualified=disqualified,
    )


def _disqualified(study: Study, entries: Sequence[Entry]) -> dict[str, str]:
    """Variants that cannot win, and why: no valid run, wrong answers, broken criteria, crashes."""
    found: dict[str, str] = {}
    for variant in study.variants:
        own = [entry for entry in entries if entry.variant == variant.name]
        bad = [entry for entry in own if not entry.valid or entry.reasons]
        if own and not any(entry.valid for entry in own):
            found[variant.name] = f"no valid run: {'; '.join(bad[-1].reasons) or bad[-1].code}"
        elif any(entry.code == 1 and entry.valid for entry in own):
            words = next(entry.reasons for entry in own if entry.code == 1 and entry.valid)
            found[variant.name] = "; ".join(words) or "a criterion was not kept"
    return found


def _drifts(study: Study, entries: Iterable[Entry]) -> Iterable[Drift]:
    """Of each headline metric, by Theil's and Sen's slope over the places of the first variant."""
    from scipy.stats import theilslopes

    first = study.variants[0].name
    own = sorted((one for one in entries if one.variant == first), key=lambda one: one.place)
    for metric, headline in _metrics(study, own):
        points = [(one.place, one.figures[metric]) for one in own if one.figures.get(metric, 0) > 0]
        if not headline or len(points) < 4:
            continue
        logs = [math.log(value) for _, value in points]
        slope: Any = theilslopes(logs, [place for place, _ in points])
        yield Drift(
            metric=metric,
            percent=100 * math.expm1(float(slope.slope)),
            low=100 * math.expm1(float(slope.low_slope)),
            high=100 * math.expm1(float(slope.high_slope)),
        )


def tight(study: Study, entries: Sequence[Entry], least: int) -> bool:
    """Whether every headline interval is within the margin to each side of its estimate.

    How wide it is does not depend on where it lies, so that looking at it after each pair does not
    make a difference out of none.
    """
    found = [one for one in outcome(study, entries).comparisons if one.headline]
    return bool(found) and all(
        one.pairs >= least
        and one.low is not None
        and one.high is not None
        and (one.high - one.low) / 2 <= study.margin
        for one in found
    )
