"""Behind: the rate that was asked for was not kept."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.case import Case
from dyno.decide.rule import Rule, Ruling, Weight
from dyno.decide.validity.client_bound import signs

MOST_LATE_PERCENT = 1.0


def _check(case: Case) -> Iterable[Ruling]:
    for phase, name in case.levels():
        scheduled = case.value(f"{name}.scheduled")
        late, unsent = case.value(f"{name}.late") or 0, case.value(f"{name}.unsent") or 0
        if not scheduled or (late + unsent) * 100 <= scheduled * MOST_LATE_PERCENT:
            continue
        if signs(case, phase, name):
            # More sessions would only give a driver at its limit more to do.
            who, advice = "driver", "give a lower --rate"
        else:
            who, advice = "target", "give more users or a lower --rate"
        yield Ruling(
            "warning",
            f"{phase.title}: the {who} fell behind the rate: of {scheduled:,.0f} transactions "
            f"due, {late:,.0f} found no free session and {unsent:,.0f} were never sent. "
            f"Response times include the wait; {advice}.",
            phase.name,
            (f"{name}.scheduled", f"{name}.late", f"{name}.unsent"),
        )


RULE = Rule(
    code="behind",
    weight=Weight.DOUBTFUL,
    definition=f"In an open loop more than {MOST_LATE_PERCENT:g} % were sent late or never.",
    explanation="Beyond its capacity a server's latency says only how long it was overloaded.",
    check=_check,
)
