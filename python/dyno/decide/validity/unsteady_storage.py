"""Unsteady storage: IOPS drifted within a step, or the windows of a load differ."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from dyno.bundle import metrics
from dyno.bundle.model import Phase
from dyno.bundle.phases.io import IoDetail
from dyno.config.units import seconds_text
from dyno.decide.case import Case
from dyno.decide.rule import Rule, Ruling, Weight
from dyno.decide.validity.throttled_storage import LEAST_DROP_PERCENT
from dyno.decide.validity.unsteady import (
    MOST_BIAS_PERCENT,
    MOST_DISCARD_PERCENT,
    MOST_TREND_PERCENT,
    WARNING_TREND_PERCENT,
)
from dyno.profiles.steps import Step, windows

FEWEST_INTERVALS = 10
MOST_VARIATION_PERCENT = 10.0
MOST_ERROR_PERCENT = 10.0
WARNING_ERROR_PERCENT = 20.0

_FELL = "Increase --step, or precondition the volume by writing it full: a fresh device is faster."
_AGAIN = "Repeat with a longer --step: the device, its cache or its other users changed state."
_STILL = "Possible causes: garbage collection in the device, or other users of the device."


@dataclass(frozen=True)
class _Drift:
    """How the IOPS of a load drifted.

    Attributes:
        is_best: Whether the load is its curve's best.
        size: Ranks drifts of one level.
        severe: Whether it invalidates the value of a best load.
        slight: Whether it only widens the uncertainty of a value.
    """

    step: Step
    is_best: bool
    size: float
    severe: bool
    words: str
    evidence: str
    advice: str = "Increase --step."
    slight: bool = False


def _check(case: Case) -> Iterable[Ruling]:
    found: list[_Drift] = []
    short: list[tuple[metrics.StorageLoad, Step]] = []
    for at, of_it in windows(case.steps).items():
        if _is_unsettled(case.phase_of(of_it[0]), of_it[0].curve):
            continue
        intervals = case.value(at.intervals)
        if (case.value(at.drop_percent) or 0.0) >= LEAST_DROP_PERCENT:
            continue  # throttled-storage covers it
        if intervals is not None and intervals < FEWEST_INTERVALS:
            short.append((at, of_it[0]))
        found += [drift for drift in _drifts(case, at, of_it) if drift is not None]
    yield from _unsettled(case)
    disturbed = [drift for drift in found if drift.is_best and drift.severe]
    slight = [drift for drift in found if drift.slight]
    yield from _rulings(case, disturbed, "disturbed")
    others = [drift for drift in found if drift not in disturbed and not drift.slight]
    yield from _rulings(case, others, "warning")
    yield from _rulings(case, slight, "note")
    if short:
        _, step = short[0]
        others = f" and {len(short) - 1} more" if len(short) > 1 else ""
        how = "--step" if case.bundle.run.verb == "io" else "dyno io --step"
        yield Ruling(
            "note" if case.bundle.run.verb == "quickstart" else "warning",
            f"Steps of {seconds_text(step.seconds)} are too short to test IOPS for steady state "
            f"({step.label}{others}). Use {how} 2s or more.",
            _phase(case, step),
            tuple(at.intervals.name for at, _ in short),
        )


def _unsettled(case: Case) -> Iterable[Ruling]:
    """Curves that did not settle."""
    for phase in case.phases_of(IoDetail):
        own = case.steps_in(phase)
        for curve in dict.fromkeys(step.curve for step in own):
            if not _is_unsettled(phase, curve):
                continue
            of_it = [step for step in own if step.curve == curve]
            yield Ruling(
                "disturbed",
                f"{phase.title}: {curve} did not settle in {len(of_it)} windows: the last "
                f"{of_it[0].rounds} differ. Allow more windows in the profile (settle = …).",
                phase.name,
                ("settled = false",),
            )


def _is_unsettled(phase: Phase[IoDetail] | None, curve: str) -> bool:
    settled = None if phase is None else phase.detail.settled
    return (settled or {}).get(curve) is False


def _drifts(case: Case, at: metrics.StorageLoad, of_it: Sequence[Step]) -> Iterable[_Drift | None]:
    step, is_best = of_it[0], case.is_best(of_it[0])
    fell, within = _fell(case, at, step, is_best=is_best), _within(case, at, step, is_best=is_best)
    yield fell
    if fell is None or (within is not None and within.severe):
        yield within
    if fell is None and within is None and is_best:
        yield _vague(case, at, step)
    yield _still(case, at, step, is_best=is_best)
    yield _between(at, of_it, is_best=is_best)


def _vague(case: Case, at: metrics.StorageLoad, step: Step) -> _Drift | None:
    """A mean with a wide confidence interval, without significant drift."""
    error = case.value(at.mean_error_percent)
    if error is None or error <= MOST_ERROR_PERCENT:
        return None
    words = f"the mean IOPS of a window has an uncertainty of ±{min(error, 100):.0f} %"
    slight = error <= WARNING_ERROR_PERCENT
    return _Drift(step, True, error, False, words, at.mean_error_percent.name, slight=slight)


def _fell(case: Case, at: metrics.StorageLoad, step: Step, *, is_best: bool) -> _Drift | None:
    """An abrupt drop below the threshold of ``throttled-storage``."""
    percent = case.value(at.drop_percent)
    before, after = case.value(at.drop_from_iops), case.value(at.drop_to_iops)
    if percent is None or before is None or after is None:
        return None
    words = f"IOPS dropped abruptly by {percent:.0f} %, from {before:,.0f} to {after:,.0f}"
    return _Drift(step, is_best, percent, False, words, at.drop_percent.name, _AGAIN)


def _within(case: Case, at: metrics.StorageLoad, step: Step, *, is_best: bool) -> _Drift | None:
    discard = case.value(at.mser_discard_percent)
    bias = case.value(at.mser_bias_percent)
    # MSER-5 may truncate pure noise heavily, but that does not move the mean.
    if (discard or 0.0) > MOST_DISCARD_PERCENT and (bias or 0.0) > MOST_BIAS_PERCENT:
        words = f"IOPS never settled: MSER-5 truncates {discard:.0f} % of a window"
        return _Drift(step, is_best, bias or 0.0, True, words, at.mser_discard_percent.name)
    trend = case.estimate(at.trend_percent)
    if trend is None or trend.low is None or trend.high is None:
        return None
    size = abs(trend.value)
    # Some of many short steps drift by chance: loads other than the best need a severe drift.
    least = trend.low if trend.value > 0 else -trend.high
    severe = size > MOST_TREND_PERCENT and least > WARNING_TREND_PERCENT
    if least <= 0 or not (severe or (is_best and size > WARNING_TREND_PERCENT)):
        return None
    if trend.value > 0:
        words = f"IOPS rose by {size:.0f} % within a window"
        return _Drift(step, is_best, size, severe, words, trend.name)
    words = f"IOPS fell by {size:.0f} % within a window"
    return _Drift(step, is_best, size, severe, words, trend.name, _FELL)


def _still(case: Case, at: metrics.StorageLoad, step: Step, *, is_best: bool) -> _Drift | None:
    silent_s = case.value(at.silent_s)
    if not silent_s:
        return None
    words = f"I/O stalled for {seconds_text(silent_s)}"
    return _Drift(step, is_best, silent_s, False, words, at.silent_s.name, _STILL)


def _between(at: metrics.StorageLoad, of_it: Sequence[Step], *, is_best: bool) -> _Drift | None:
    rates = [step.iops for step in of_it]
    if not is_best or len(rates) < 2 or not sum(rates):
        return None
    varied = 100 * statistics.stdev(rates) / statistics.fmean(rates)
    if varied <= MOST_VARIATION_PERCENT:
        return None
    words = (
        f"its {len(rates)} windows differ by {varied:.0f} % (coefficient of variation), from "
        f"{min(rates):,.0f} to {max(rates):,.0f} IOPS"
    )
    return _Drift(of_it[0], is_best, varied, True, words, at.iops.name)


def _rulings(
    case: Case, drifts: Sequence[_Drift], level: Literal["disturbed", "warning", "note"]
) -> Iterable[Ruling]:
    """One ruling for all drifts: it describes the worst and counts the others."""
    if not drifts:
        return
    worst = max(drifts, key=lambda drift: drift.size)
    more = len({drift.step.metrics for drift in drifts}) - 1
    others = f" Other loads affected: {more}." if more else ""
    what = "the best load " if worst.is_best else ""
    yield Ruling(
        level,
        f"Storage was unsteady: at {what}{worst.step.label} {worst.words}.{others} {worst.advice}",
        _phase(case, worst.step),
        tuple(dict.fromkeys(drift.evidence for drift in drifts)),
    )


def _phase(case: Case, step: Step) -> str | None:
    phase = case.phase_of(step)
    return None if phase is None else phase.name


RULE = Rule(
    code="unsteady-storage",
    weight=Weight.DOUBTFUL,
    definition=(
        "In a window of a curve's best load IOPS trended by more than "
        f"{MOST_TREND_PERCENT:g} % (95 % interval, corrected for autocorrelation, above "
        f"{WARNING_TREND_PERCENT:g} %), MSER-5 truncates more than {MOST_DISCARD_PERCENT:g} % of "
        f"it, which shifts the mean by more than {MOST_BIAS_PERCENT:g} %, the windows' coefficient "
        f"of variation exceeds {MOST_VARIATION_PERCENT:g} %, or the curve did not settle. Warning: "
        f"a smaller drift, an abrupt drop of less than {LEAST_DROP_PERCENT:g} %, an uncertainty of "
        f"the mean above {WARNING_ERROR_PERCENT:g} % (note: {MOST_ERROR_PERCENT:g} %), a stall, "
        f"such a window of another load, or windows with fewer than {FEWEST_INTERVALS} intervals."
    ),
    explanation=(
        "Flash slows down until it is preconditioned, and caches until they are full: a minute "
        "later the value differs. The measurement is correct, so the run is disturbed."
    ),
    check=_check,
)
