"""Analyses the runs of a study. Pure, so that the analysis is reproducible."""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any

from dyno.safety.text import clauses
from dyno.studies.effects import effects
from dyno.studies.fits import fits
from dyno.studies.metrics import find
from dyno.studies.model import Study
from dyno.studies.noise import noise
from dyno.studies.outcome import Comparison, Drift, Outcome
from dyno.studies.pairs import FEWEST_TO_STOP, Valid, comparisons, counted, metric_names, sound
from dyno.studies.store import Entry, StudyStore

WRONG = {"wrong-answers", "inconsistent"}
"""Codes of reasons that disqualify a variant, even if the run was repeated."""

_FEWEST_FOR_DRIFT = 4


def outcome(book: StudyStore) -> Outcome:
    """The outcome of the study of a journal.

    Raises:
        UsageError: If the book is damaged.
    """
    found = said(book.study, book.entries(), book.dropped())
    last = next((note for note in reversed(book.notes()) if note.kind in {"begun", "ended"}), None)
    return found if last is None else found.model_copy(update={"futility": last.futility})


def said(study: Study, entries: Sequence[Entry], dropped: Mapping[str, str]) -> Outcome:
    """The outcome of runs; incomplete journals give as much as possible.

    Args:
        study: The study's definition.
        entries: Its runs.
        dropped: Dropped variants and the reasons; all of them are disqualified.
    """
    names = {variant.name for variant in study.variants}
    known = [entry for entry in entries if entry.variant in names]
    left_out = {name: why for name, why in dropped.items() if name in names}
    valid = counted(known)
    out = {**left_out, **_disqualified(study, known)}
    compared = comparisons(study, valid, out)
    factors, unreported = effects(study, valid)
    grown, unfitted = fits(study, valid)
    return Outcome(
        comparisons=compared,
        undisturbed=_undisturbed(study, valid, compared, out),
        drift=tuple(_drifts(study, valid.values())),
        runs=len(entries),
        invalid=sum(not entry.counts for entry in entries),
        disturbed=sum(entry.disturbed for entry in entries),
        disqualified=out,
        dropped=left_out,
        effects=factors,
        fits=grown,
        noise=noise(study, known, valid, compared),
        notes=(*_missing(study, valid.values()), *unreported, *unfitted),
    )


def _undisturbed(
    study: Study, counting: Valid, compared: Iterable[Comparison], out: Mapping[str, str]
) -> tuple[Comparison, ...]:
    """The headline comparisons of valid runs alone; empty if all counted runs are valid."""
    valid = {key: entry for key, entry in counting.items() if entry.valid}
    if len(valid) == len(counting):
        return ()
    found = {
        (one.variant, one.metric): one for one in comparisons(study, valid, out, headline_only=True)
    }
    nothing = "not compared: no valid run"
    return tuple(
        found.get((one.variant, one.metric))
        or Comparison(variant=one.variant, metric=one.metric, headline=True, pairs=0, note=nothing)
        for one in compared
        if one.headline
    )


def _missing(study: Study, entries: Iterable[Entry]) -> Iterable[str]:
    """Headline metrics without any value."""
    runs = list(entries)
    has = {name.partition(".")[0] for entry in runs for name in entry.figures}
    for metric in study.headline:
        if runs and find(metric) is not None and metric not in has:
            yield f"{metric}: no run that counts has it"


def _disqualified(study: Study, entries: Sequence[Entry]) -> dict[str, str]:
    """Variants that cannot win, and why: no valid run, wrong answers, broken criteria, crashes."""
    found: dict[str, str] = {}
    for variant in study.variants:
        own = [entry for entry in entries if entry.variant == variant.name]
        wrong = [entry for entry in own if WRONG & set(entry.codes)]
        broken = [entry for entry in own if entry.counts and entry.broken]
        if own and not any(entry.counts for entry in own):
            last = own[-1]
            found[variant.name] = f"no valid run: {last.why_not}"
        elif wrong:
            found[variant.name] = clauses(wrong[0].reasons) or ", ".join(wrong[0].codes)
        elif broken:
            first = min(broken, key=lambda one: one.disturbed)  # a valid run, if there is one
            beside = " (in a disturbed run)" if first.disturbed else ""
            found[variant.name] = f"{'; '.join(first.broken)}{beside}"
    return found


def _drifts(study: Study, entries: Iterable[Entry]) -> Iterable[Drift]:
    """The drift of each headline metric: Theil-Sen slope over the runs of the baseline."""
    from scipy.stats import theilslopes

    first = study.variants[0].name
    own = sorted((one for one in entries if one.variant == first), key=lambda one: one.place)
    for metric, headline in metric_names(study, own):
        points = [(one.place, value) for one in own if (value := sound(one, metric)) is not None]
        if not headline or len({place for place, _ in points}) < _FEWEST_FOR_DRIFT:
            continue
        logs = [math.log(value) for _, value in points]
        slope: Any = theilslopes(logs, [place for place, _ in points])
        found = [float(slope.slope), float(slope.low_slope), float(slope.high_slope)]
        percents = [100 * math.expm1(min(value, 600.0)) for value in found]
        if all(map(math.isfinite, percents)):
            yield Drift(metric=metric, percent=percents[0], low=percents[1], high=percents[2])


def tight(study: Study, entries: Sequence[Entry], dropped: Container[str] = ()) -> bool:
    """Whether every headline interval is within the margin to each side of its estimate.

    The width is independent of the location, so testing after each pair cannot create a false
    difference. It does bias the width, see ``FEWEST_TO_STOP``.

    Args:
        study: The study's definition.
        entries: The runs so far.
        dropped: Dropped variants, which get no more runs.
    """
    names = {variant.name for variant in study.variants}
    valid = counted(entry for entry in entries if entry.variant in names)
    all_found = comparisons(study, valid, {}, headline_only=True)
    found = [one for one in all_found if one.variant not in dropped]
    return bool(found) and all(
        one.pairs >= FEWEST_TO_STOP
        and one.low is not None
        and one.high is not None
        and (one.high - one.low) / 2 <= study.margin
        for one in found
    )
