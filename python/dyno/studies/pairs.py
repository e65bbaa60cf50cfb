"""Variants against the first, in pairs of runs."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from dyno.statistics.multiple import adjusted
from dyno.statistics.paired import CONFIDENCE, Shift, shift
from dyno.statistics.power import POWER, pairs_for, smallest_effect
from dyno.statistics.verdict import verdict
from dyno.studies.book import Entry
from dyno.studies.metrics import METRICS, owner
from dyno.studies.model import Study
from dyno.studies.outcome import Comparison

Valid = Mapping[tuple[int, str], Entry]
"""Runs that count, by pair and variant."""

FEWEST = 2
FEWEST_TO_STOP = 8
"""Pairs before which no study ends for its intervals being tight: the first few may agree."""

_MAY_STOP = 0.96
"""Confidence of intervals in studies that may end so, which have more pairs than that.

Who stops when an interval looks tight stops more often where it is too tight. Made so, intervals
hold the truth 95 times of 100 wherever the study ends (benches/studies.txt).
"""


def counted(entries: Iterable[Entry]) -> dict[tuple[int, str], Entry]:
    """The last valid run of each pair and variant."""
    return {(entry.pair, entry.variant): entry for entry in entries if entry.valid}


def figures(study: Study, entries: Iterable[Entry]) -> list[tuple[str, bool]]:
    """Names of the values that any run has and whether they are headline ones, which are first."""
    names = dict.fromkeys(
        name for entry in entries for name in entry.figures if name.partition(".")[0] in METRICS
    )
    headline = [name for name in names if owner(name).name in study.headline]
    rest = [name for name in names if name not in headline]
    return [(name, True) for name in headline] + [(name, False) for name in rest]


def sound(entry: Entry, metric: str) -> float | None:
    """The figure of a run if it can be compared by ratios: a number above zero."""
    value = entry.figures.get(metric)
    return value if value is not None and math.isfinite(value) and value > 0 else None


def finite(value: float) -> float | None:
    """The value, or None where it is infinite or none."""
    return value if math.isfinite(value) else None


def adjusted_in_families(asked: Mapping[tuple[bool, str], float]) -> dict[str, float]:
    """P values by name, adjusted: of headline questions by Holm, of the others by Benjamini."""
    found: dict[str, float] = {}
    for headline in (True, False):
        own = {name: p for (is_headline, name), p in asked.items() if is_headline == headline}
        found |= adjusted(own, "headline" if headline else "exploratory")
    return found


def confidence(study: Study) -> float:
    """What the intervals of its comparisons are made at."""
    return _MAY_STOP if study.pairs > FEWEST_TO_STOP else CONFIDENCE


class _Asked:
    """One variant in one metric."""

    def __init__(self, study: Study, valid: Valid, name: str, metric: str, headline: bool) -> None:
        self.name, self.metric, self.headline = name, metric, headline
        self.first: list[float] = []
        self.second: list[float] = []
        self._base = study.variants[0].name
        left: Counter[str] = Counter()
        pairs = sorted({pair for pair, who in valid if who in {self._base, name}})
        for pair in pairs:
            why = [_lack(who, valid.get((pair, who)), metric) for who in (self._base, name)]
            if any(why):
                left.update(text for text in why if text)
                continue
            self.first.append(valid[pair, self._base].figures[metric])
            self.second.append(valid[pair, name].figures[metric])
        self.note = self._note(left, len(pairs))
        self.shift: Shift | None = (
            shift(self.first, self.second, confidence(study)) if self.enough else None
        )

    @property
    def enough(self) -> bool:
        return len(self.first) >= FEWEST

    def _note(self, left: Counter[str], pairs: int) -> str:
        why = ", ".join(f"{text} in {count} of {pairs} pairs" for text, count in left.items())
        if not self.enough:
            return f"not compared: {why or f'{len(self.first)} pairs; {FEWEST} are needed'}"
        return f"left out: {why}" if why else ""


def _lack(name: str, entry: Entry | None, metric: str) -> str:
    """What keeps a run from being compared; empty if nothing does."""
    if entry is None:
        return f"'{name}' has no valid run"
    if sound(entry, metric) is not None:
        return ""
    return f"'{name}' has none" if metric not in entry.figures else f"'{name}' has zero or less"


def comparisons(
    study: Study, valid: Valid, disqualified: Mapping[str, str], headline_only: bool = False
) -> tuple[Comparison, ...]:
    """All variants against the first, in all metrics that any run has.

    Headline questions are adjusted as one family and exploratory ones as another, over variants
    and metrics.
    """
    metrics = [one for one in figures(study, valid.values()) if one[1] or not headline_only]
    asked = [
        _Asked(study, valid, variant.name, metric, headline)
        for variant in study.variants[1:]
        for metric, headline in metrics
    ]
    p = adjusted_in_families({
        (one.headline, f"{one.name}\0{one.metric}"): one.shift.p for one in asked if one.shift
    })  # fmt: skip
    return tuple(
        _comparison(study, one, p.get(f"{one.name}\0{one.metric}"), disqualified.get(one.name, ""))
        for one in asked
    )


def _comparison(study: Study, one: _Asked, p: float | None, disqualified: str) -> Comparison:
    made = Comparison(
        variant=one.name,
        metric=one.metric,
        headline=one.headline,
        pairs=len(one.first),
        disqualified=disqualified,
        note=one.note,
    )
    found = one.shift
    if found is None:
        return made
    floor = 0.0 if one.headline else study.margin
    at = POWER, confidence(study)
    said = verdict(found, study.margin, owner(one.metric).wish, p, floor)
    if disqualified and said == "better":
        said = "inconclusive"
    return made.model_copy(update={
        "first": statistics.median(one.first),
        "second": statistics.median(one.second),
        "percent": finite(found.percent),
        "low": finite(found.low),
        "high": finite(found.high),
        "confidence": found.confidence,
        "p": p,
        "d_z": finite(found.d_z),
        "method": found.method,
        "smallest": finite(smallest_effect(found.sd_percent, found.pairs, *at)),
        "needed": pairs_for(study.margin, found.sd_percent, *at),
        "verdict": said,
    })  # fmt: skip


def grouped(notes: Sequence[tuple[str, str]], most: int = 3) -> tuple[str, ...]:
    """Notes of metrics as sentences: those that say the same of several are one."""
    metrics: dict[str, list[str]] = {}
    for metric, text in notes:
        metrics.setdefault(text, []).append(metric)
    return tuple(
        f"for {', '.join(names[:most])}"
        + (f" and {len(names) - most} more" if len(names) > most else "")
        + f": {text}"
        for text, names in metrics.items()
    )
