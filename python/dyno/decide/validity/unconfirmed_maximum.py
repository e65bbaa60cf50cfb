"""Unconfirmed maximum: a search ended before a second window confirmed its maximum."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.bundle import metrics
from dyno.bundle.model import Phase
from dyno.bundle.phases.io import IoDetail
from dyno.bundle.phases.search import SearchDetail
from dyno.criteria import USER, asked
from dyno.decide.case import Case
from dyno.decide.rule import Rule, Ruling, Weight


def _check(case: Case) -> Iterable[Ruling]:
    for phase in case.phases_of(IoDetail):
        yield from _storage(case, phase)
        yield from _without_best(case, phase)
    for phase in case.phases_of(SearchDetail):
        detail = phase.detail
        if phase.status != "done":
            continue
        if detail.best is None:
            if detail.unsettled is True:
                yield Ruling(
                    "invalid",
                    "No load passed, and the windows of the smallest one were unsteady, late or of "
                    "another mix. Increase --warmup and --duration.",
                    phase.name,
                )
            elif detail.stopped == "time":
                yield Ruling(
                    "invalid",
                    "The search reached --time-limit before any load passed. Increase it, or start "
                    "with --users closer to the server's capacity.",
                    phase.name,
                )
            continue
        if detail.confirmed is not True:
            yield Ruling(
                "invalid",
                "The search reached --time-limit before a second window confirmed the maximum. "
                "Increase it.",
                phase.name,
            )
        elif detail.stopped == "time":
            yield Ruling(
                "warning",
                "The search reached --time-limit: the gap between the maximum and the smallest "
                "failing load exceeds the requested resolution.",
                phase.name,
            )
        yield from _idle(case, phase)
        if detail.unsettled is True:
            yield Ruling(
                "warning",
                "The smallest failing load had inconclusive windows only: unsteady, late or of "
                "another mix. Increase --duration to see whether it passes.",
                phase.name,
            )
        if _refused(detail):
            yield Ruling(
                "warning",
                "Above the maximum the server refused sessions: the maximum is its connection "
                "limit, not its capacity.",
                phase.name,
            )
        if detail.monotone is False:
            yield Ruling(
                "warning",
                "The curve is not monotone: a load above the smallest failing load passed. The "
                "maximum is the largest load below which no load failed.",
                phase.name,
            )


def _storage(case: Case, phase: Phase[IoDetail]) -> Iterable[Ruling]:
    """Searches for the maximum IOPS within the latency ceiling."""
    for curve, stages in (phase.detail.searches or {}).items():
        for found in stages.values():
            if found.best is None:
                yield Ruling(
                    "warning",
                    f"{phase.title}: every load of {curve} exceeds the ceiling, even the smallest. "
                    "Raise --ceiling, or start with a smaller depth.",
                    phase.name,
                )
            elif found.confirmed is not True:
                yield Ruling(
                    "invalid",
                    f"{phase.title}: no second window confirmed the best load of {curve}. "
                    "Increase --step.",
                    phase.name,
                )
    # The engine judges each window. All windows together may exceed the ceiling all the same.
    searches = phase.detail.searches or {}
    curves = {
        step.curve_metrics: step.curve
        for step in case.steps_in(phase)
        if step.curve in searches and all(one.confirmed for one in searches[step.curve].values())
    }
    for at, curve in curves.items():
        if case.value(at.best_depth) is None or case.value(at.best_confirmed) == 0:
            yield Ruling(
                "invalid",
                f"{phase.title}: all windows at the best load of {curve} together exceed the "
                "ceiling. Increase --step.",
                phase.name,
            )


def _without_best(case: Case, phase: Phase[IoDetail]) -> Iterable[Ruling]:
    """Curves of listed loads without a best load; ``_storage`` covers searches."""
    searched = set(phase.detail.searches or {})
    curves = dict.fromkeys(
        step.curve
        for step in case.steps_in(phase)
        if step.curve not in searched
        and case.value(step.curve_metrics.best_depth) is None
        and case.value(step.curve_metrics.best_rate) is None
    )
    if curves:
        first, more = next(iter(curves)), len(curves) - 1
        others = f" and {more} more curve{'s'[: more > 1]}" if more else ""
        yield Ruling(
            "warning",
            f"{phase.title}: {first}{others}: no best load, because every load exceeded the "
            "ceiling in some window or had failed I/Os. Raise --ceiling, or use smaller loads.",
            phase.name,
        )


def _idle(case: Case, phase: Phase[SearchDetail]) -> Iterable[Ruling]:
    """The user's limits that had no events at the maximum."""
    counted = phase.detail.counted or ()
    keys = [
        metrics.Criterion(level, limit).value
        for level in counted
        for limit in asked(case.bundle.run, "slo")
    ]
    judged = any(case.estimate(key) is not None for key in keys)
    idle = {
        f"{limit}: {found.source}": found.name
        for limit in asked(case.bundle.run, "slo")
        if limit.source == USER
        for level in counted
        if (found := case.estimate(metrics.Criterion(level, limit).idle)) is not None
    }
    if not idle:
        return
    words = f"Not evaluated at the maximum: {'; '.join(idle)}."
    if judged:
        words += " The maximum holds only while this is so, for example while all data is cached."
    else:
        words += " No limit was evaluated, so there is no maximum. Add an --slo on response times."
    yield Ruling("warning" if judged else "invalid", words, phase.name, tuple(idle.values()))


def _refused(detail: SearchDetail) -> bool:
    """Whether the smallest failing load failed because the server refused sessions."""
    return any(level in detail.refused for level in detail.bounding or ())


RULE = Rule(
    code="unconfirmed-maximum",
    weight=Weight.INCOMPLETE,
    definition=(
        "A search ended before two windows at its maximum passed, or no limit could be evaluated "
        "there. Warning: a limit without events at the maximum, a gap above the maximum wider than "
        "the resolution, a failing load that the server refused or that had only inconclusive "
        "windows, a non-monotone curve, or storage where every load exceeded the ceiling."
    ),
    explanation="In a search with many windows, one can pass by chance.",
    check=_check,
)
