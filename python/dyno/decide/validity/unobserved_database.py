"""Unobserved database: a recording lacks readings of it."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.bundle import metrics
from dyno.bundle.phases.watch import WatchDetail
from dyno.config.units import seconds_text
from dyno.decide.case import Case
from dyno.decide.rule import Rule, Ruling, Weight

MOST_SHARE = 0.5


def _check(case: Case) -> Iterable[Ruling]:
    for phase in case.phases_of(WatchDetail):
        at = metrics.Watch(phase.name)
        lost, gaps = case.value(at.gap_s) or 0.0, case.value(at.gaps)
        longest = case.value(at.longest_gap_s)
        if not gaps or longest is None or not phase.seconds:
            continue
        known = "none" if lost >= phase.seconds else seconds_text(phase.seconds - lost)
        yield Ruling(
            "invalid" if lost > MOST_SHARE * phase.seconds else "warning",
            f"{phase.title}: no readings of the database for {seconds_text(lost)} in {gaps:.0f} "
            f"gap{'' if gaps == 1 else 's'}, the longest {seconds_text(longest)}: it did not "
            "respond, or nothing could be written (see events.jsonl). Its metrics cover the rest "
            f"({known}).",
            phase.name,
            (at.gap_s.name, at.gaps.name),
        )


RULE = Rule(
    code="unobserved-database",
    weight=Weight.INCOMPLETE,
    definition=(
        f"A recording lacks readings of the database for more than {MOST_SHARE:.0%} of its time. "
        "Warning: for some of it."
    ),
    explanation="Means and shares of the recorded part may not describe the whole.",
    check=_check,
)
