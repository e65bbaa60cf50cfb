"""Clock: the machine slept, or its wall clock was set, during the run."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.config.units import seconds_text
from dyno.decide.case import Case
from dyno.decide.rule import Rule, Ruling, Weight

MOST_ASLEEP_S = 0.05
MOST_SET_S = 1.0


def _check(case: Case) -> Iterable[Ruling]:
    seen = case.bundle.run.clock_check
    if seen is None:
        return
    if (seen.asleep_s or 0.0) > MOST_ASLEEP_S:
        yield Ruling(
            "invalid",
            f"The machine slept for {seconds_text(seen.asleep_s or 0.0)} during the run. Disable "
            "sleep and run again.",
            evidence=(f"asleep_s = {seen.asleep_s:g}",),
        )
    if abs(seen.set_s) > MOST_SET_S:
        way = "forward" if seen.set_s > 0 else "back"
        yield Ruling(
            "warning",
            f"The wall clock was set {way} by {seconds_text(abs(seen.set_s))} during the run. "
            "Durations and rates are correct; times of day follow the clock at the start.",
            evidence=(f"set_s = {seen.set_s:g}",),
        )


RULE = Rule(
    code="clock",
    weight=Weight.DOUBTFUL,
    definition=(
        f"The machine slept for more than {MOST_ASLEEP_S:g} s during the run. Warning: its wall "
        f"clock was set by more than {MOST_SET_S:g} s."
    ),
    explanation="A measurement across a sleep includes the gap.",
    check=_check,
)
