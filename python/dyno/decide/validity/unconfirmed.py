"""Unconfirmed: a search ended without a maximum that a second window confirms."""

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
        yield from _storage(phase)
        yield from _without_best(case, phase)
    for phase in case.phases_of(SearchDetail):
        detail = phase.detail
        if phase.status != "done":
            continue
        if detail.best is None:
            if detail.unsettled is True:
                yield Ruling(
                    "invalid",
                    "The search found no load at which throughput was steady. Give a longer "
                    "--warmup and --duration.",
                    phase.name,
                )
            elif detail.stopped == "time":
                yield Ruling(
                    "invalid",
                    "The search ended at its --time-limit before any load kept the limits. Give "
                    "it more time, or --users nearer to what the server carries.",
                    phase.name,
                )
            continue
        if detail.confirmed is not True:
            yield Ruling(
                "invalid",
                "The maximum was not confirmed by a second window: the search ended at its "
                "--time-limit. Give it more time.",
                phase.name,
            )
        elif detail.stopped == "time":
            yield Ruling(
                "warning",
                "The search ended at its --time-limit: the gap between the maximum and the "
                "smallest load that fails is wider than asked for.",
                phase.name,
            )
        yield from _idle(case, phase)
        if detail.unsettled is True:
            yield Ruling(
                "warning",
                "The smallest load beyond the maximum broke no limit in a steady window: its "
                "throughput never settled. A longer --duration tells whether it would.",
                phase.name,
            )
        if _refused(detail):
            yield Ruling(
                "warning",
                "Beyond the maximum the server took no more sessions: the maximum is its own limit "
                "on them, not what it carries.",
                phase.name,
            )
        if detail.monotone is False:
            yield Ruling(
                "warning",
                "The curve is not monotone: a load above the smallest one that fails kept the "
                "limits. The maximum is the largest load with none failing below it.",
                phase.name,
            )


def _storage(phase: Phase[IoDetail]) -> Iterable[Ruling]:
    """Searches for the most I/Os inside the ceiling."""
    for curve, stages in (phase.detail.searches or {}).items():
        for found in stages.values():
            if found.best is None:
                yield Ruling(
                    "warning",
                    f"{phase.title}: no load of {curve} kept the ceiling, not even the smallest. "
                    "Give a higher --ceiling, or a smaller depth to begin with.",
                    phase.name,
                )
            elif found.confirmed is not True:
                yield Ruling(
                    "invalid",
                    f"{phase.title}: the best load of {curve} kept the ceiling once, and no second "
                    "window confirmed it. Give a longer --step.",
                    phase.name,
                )


def _without_best(case: Case, phase: Phase[IoDetail]) -> Iterable[Ruling]:
    """Curves of listed loads none of which kept the ceiling; those that search are told above."""
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
        others = f" (nor of {more} more curve{'s'[: more > 1]})" if more else ""
        yield Ruling(
            "warning",
            f"{phase.title}: no load of {first}{others} kept the ceiling in every window and "
            "without a failed I/O, so it has no best. Give a higher --ceiling, or smaller loads.",
            phase.name,
        )


def _idle(case: Case, phase: Phase[SearchDetail]) -> Iterable[Ruling]:
    """Limits of the user's own on what did not happen at the maximum."""
    counted = phase.detail.counted or ()
    keys = [
        metrics.Criterion(level, limit).value
        for level in counted
        for limit in asked(case.bundle.run, "slo")
    ]
    judged = any(case.estimate(key) is not None for key in keys)
    idle = {
        f"{limit}: {figure.source}": figure.name
        for limit in asked(case.bundle.run, "slo")
        if limit.source == USER
        for level in counted
        if (figure := case.estimate(metrics.Criterion(level, limit).idle)) is not None
    }
    if not idle:
        return
    words = f"At the maximum not judged: {'; '.join(idle)}."
    if judged:
        words += " It holds only as long as that stays so, as while all data is in memory."
    else:
        words += " No limit was judged there, so it is none. Give an --slo on response times, too."
    yield Ruling("warning" if judged else "invalid", words, phase.name, tuple(idle.values()))


def _refused(detail: SearchDetail) -> bool:
    """Whether it was by refusing sessions that the server set the bound."""
    return any(level in detail.refused for level in detail.bounding or ())


RULE = Rule(
    code="unconfirmed",
    weight=Weight.INCOMPLETE,
    definition=(
        "A search for the maximum ended before two windows at the maximum kept the limits, or none "
        "of the limits could be judged there; or one of storage before its best load was "
        "confirmed. A limit that was not judged as nothing happened that it limits, a wide gap "
        "above the maximum, a load above it that the server refused or that only never settled, a "
        "curve that is not monotone, or storage of which no load kept the ceiling, is a warning."
    ),
    explanation="Of many windows one keeps its limits by luck.",
    check=_check,
)
