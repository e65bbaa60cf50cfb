"""Misaligned windows: several databases were not measured over the same time."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.case import Case
from dyno.decide.rule import Rule, Ruling, Weight

MOST_APART_PERCENT = 2.0


def _check(case: Case) -> Iterable[Ruling]:
    for phase, at in case.levels():
        window_s = case.value(at.seconds)
        if phase.detail.databases is None or not window_s:
            continue
        apart_s = case.value(at.apart_s)
        evidence = (at.apart_s.name,)
        if apart_s is None:
            yield Ruling(
                "invalid",
                f"{phase.title}: one database completed no transaction in the window. The total "
                "excludes it.",
                phase.name,
                evidence,
            )
        elif apart_s * 100 > window_s * MOST_APART_PERCENT:
            yield Ruling(
                "invalid",
                f"{phase.title}: the databases' windows started {apart_s:.2f} s apart, "
                f"{100 * apart_s / window_s:.1f} % of the window. Increase --duration.",
                phase.name,
                evidence,
            )


RULE = Rule(
    code="misaligned-windows",
    weight=Weight.DOUBTFUL,
    definition=(
        "The windows of concurrently driven databases started more than "
        f"{MOST_APART_PERCENT:g} % of the window apart, or one database has no results."
    ),
    explanation="Throughputs of different periods do not add up to a concurrent total.",
    check=_check,
)
