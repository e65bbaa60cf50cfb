"""Comparisons of variants with the baseline, in pairs of runs."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from dyno.statistics.multiple import adjusted
from dyno.statistics.paired import CONFIDENCE, ESTIMAND, Shift, shift
from dyno.statistics.power import MOST_PAIRS, POWER, pairs_for, smallest_effect
from dyno.statistics.verdict import verdict
from dyno.studies.metrics import find, owner, wish
from dyno.studies.model import Study
from dyno.studies.outcome import Comparison
from dyno.studies.store import Entry

Valid = Mapping[tuple[int, str], Entry]
"""Runs that count, by pair and variant."""

FEWEST = 2
FEWEST_TO_STOP = 8
"""Minimum number of pairs before a study stops on tight intervals: a few may agree by chance."""

_MAY_STOP = 0.96
"""Confidence of intervals in studies that may stop early, which have more pairs than that.

Stopping on a tight interval selects intervals that are too tight. At this confidence, intervals
cover the true value 95 times of 100 wherever the study stops (benches/studies.txt).
"""


def counted(entries: Iterable[Entry]) -> dict[tuple[int, str], Entry]:
    """The last run of each pair and variant that counts."""
    return {(entry.pair, entry.variant): entry for entry in entries if entry.counts}


def metric_names(study: Study, entries: Iterable[Entry]) -> list[tuple[str, bool]]:
    """Names of all values in the runs, and whether they are headline metrics, which come first."""
    names = dict.fromkeys(
        name for entry in entries for name in entry.figures if find(name.partition(".")[0])
    )
    headline = [name for name in names if owner(name).name in study.headline]
    rest = [name for name in names if name not in headline]
    return [(name, True) for name in headline] + [(name, False) for name in rest]


def sound(entry: Entry, metric: str) -> float | None:
    """The value of a run if ratios apply to it: a number above zero."""
    value = entry.figures.get(metric)
    return value if value is not None and math.isfinite(value) and value > 0 else None


def finite(value: float) -> float | None:
    """The value, or None if it is infinite or NaN."""
    return value if math.isfinite(value) else None


def adjusted_in_families(asked: Mapping[tuple[bool, str], float]) -> dict[str, float]:
    """Adjusted p values by name: headline questions by Holm, others by Benjamini-Hochberg."""
    found: dict[str, float] = {}
    for headline in (True, False):
        own = {name: p for (is_headline, name), p in asked.items() if is_headline == headline}
        found |= adjusted(own, "headline" if headline else "exploratory")
    return found


def confidence(study: Study) -> float:
    """The confidence of the intervals of its comparisons."""
    return _at(study.pairs)


def found_by(sd_percent: float, pairs: int, planned: int, questions: int = 1) -> float:
    """The smallest shift in percent that ``pairs`` of ``planned`` detect with 80 % power.

    Args:
        sd_percent: Standard deviation of the ratios of pairs.
        pairs: The number of pairs so far.
        planned: Maximum pairs of the study, which determines the confidence of its intervals.
        questions: The number of questions asked together; assumes that no other one has a shift.
    """
    return smallest_effect(sd_percent, pairs, POWER, _sure(planned, questions))


def needed(effect_percent: float, sd_percent: float, questions: int = 1) -> int | None:
    """The pairs needed to detect a shift of ``effect_percent`` with 80 % power.

    None if 10,000 or more.
    """
    few = pairs_for(effect_percent, sd_percent, POWER, _sure(FEWEST_TO_STOP, questions))
    if few <= FEWEST_TO_STOP:
        return few
    many = pairs_for(effect_percent, sd_percent, POWER, _sure(FEWEST_TO_STOP + 1, questions))
    return None if many >= MOST_PAIRS else max(many, FEWEST_TO_STOP + 1)


def _at(planned: int) -> float:
    return _MAY_STOP if planned > FEWEST_TO_STOP else CONFIDENCE


def _sure(planned: int, questions: int) -> float:
    """The confidence that a single question needs for its adjusted p value to be significant."""
    return max(_at(planned), 1 - (1 - CONFIDENCE) / max(questions, 1))


class _Asked:
    """A comparison of one variant in one metric."""

    shift: Shift | None = None

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

    @property
    def enough(self) -> bool:
        return len(self.first) >= FEWEST

    def _note(self, left: Counter[str], pairs: int) -> str:
        why = ", ".join(f"{text} in {count} of {pairs} pairs" for text, count in left.items())
        if not self.enough:
            many = f"{len(self.first)} pair{'s'[: len(self.first) != 1]}, {FEWEST} needed"
            return f"not compared: {why or many}"
        return f"left out: {why}" if why else ""


def _lack(name: str, entry: Entry | None, metric: str) -> str:
    """Why a run cannot be compared; empty if it can."""
    if entry is None:
        return f"'{name}' has no valid run"
    if sound(entry, metric) is not None:
        return ""
    return f"'{name}' has no value" if metric not in entry.figures else f"'{name}' is not positive"


def comparisons(
    study: Study, valid: Valid, disqualified: Mapping[str, str], headline_only: bool = False
) -> tuple[Comparison, ...]:
    """Compares all variants with the baseline, in all metrics that any run has.

    Headline questions are adjusted as one family and exploratory ones as another, over variants
    and metrics.
    """
    metrics = [one for one in metric_names(study, valid.values()) if one[1] or not headline_only]
    asked = [
        _Asked(study, valid, variant.name, metric, headline)
        for variant in study.variants[1:]
        for metric, headline in metrics
    ]
    together = Counter(one.headline for one in asked if one.enough)
    for one in asked:
        if one.enough:
            at = confidence(study)
            one.shift = shift(one.first, one.second, at, together[one.headline])
    p = adjusted_in_families({
        (one.headline, f"{one.name}\0{one.metric}"): one.shift.p for one in asked if one.shift
    })  # fmt: skip
    return tuple(
        _comparison(
            study, one, p.get(f"{one.name}\0{one.metric}"), disqualified, together[one.headline]
        )
        for one in asked
    )


def _comparison(
    study: Study,
    one: _Asked,
    p: float | None,
    out: Mapping[str, str],
    questions: int,
) -> Comparison:
    first = study.variants[0].name
    disqualified = out.get(one.name, "")
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
    said = verdict(found, study.margin, wish(one.metric, study), p, floor)
    note = one.note
    if disqualified and said == "better":
        said = "inconclusive"
    if first in out and one.headline and said == "worse":
        # The baseline would win by it. Individual regressions are still reported.
        said = "inconclusive"
        note = "; ".join(text for text in (f"'{first}' is disqualified", note) if text)
    return made.model_copy(update={
        "first": statistics.median(one.first),
        "second": statistics.median(one.second),
        "percent": finite(found.percent),
        "low": finite(found.low),
        "high": finite(found.high),
        "confidence": found.confidence,
        "estimand": ESTIMAND,
        "p": p,
        "d_z": finite(found.d_z),
        "method": found.method,
        "sd_percent": finite(found.sd_percent),
        "smallest": finite(found_by(found.sd_percent, found.pairs, study.pairs, questions)),
        "needed": needed(study.margin, found.sd_percent, questions),
        "verdict": said,
        "note": note,
    })  # fmt: skip


def grouped(notes: Sequence[tuple[str, str]], most: int = 3) -> tuple[str, ...]:
    """Groups notes of metrics into sentences; metrics with the same note share one."""
    metrics: dict[str, list[str]] = {}
    for metric, text in notes:
        metrics.setdefault(text, []).append(metric)
    return tuple(
        f"for {', '.join(names[:most])}"
        + (f" and {len(names) - most} more" if len(names) > most else "")
        + f": {text}"
        for text, names in metrics.items()
    )
