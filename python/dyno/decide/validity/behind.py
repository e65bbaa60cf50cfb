"""Behind: the rate that was asked for was not kept."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.case import Case
from dyno.decide.rule import Rule, Ruling, Weight
from dyno.decide.validity.client_bound import signs
from dyno.model import Phase
from dyno.rates import recorded

MOST_LATE_PERCENT = 1.0


def _check(case: Case) -> Iterable[Ruling]:
    for phase, name in case.levels():
        scheduled = case.value(f"{name}.scheduled")
        late, unsent = case.value(f"{name}.late") or 0, case.value(f"{name}.unsent") or 0
        everywhere = (late + unsent) * 100 > (scheduled or 0) * MOST_LATE_PERCENT
        if not scheduled or not (everywhere or _in_a_part(case, phase, name)):
            continue
        if signs(case, phase, name):
            # More sessions would only give a driver at its limit more to do.
            who, advice = "driver", "give a lower --rate"
        else:
            who, advice = "target", "give more users or a lower --rate"
        evidence = (f"{name}.scheduled", f"{name}.late", f"{name}.unsent")
        when = ""
        if not everywhere:
            worst = case.value(f"{name}.late_worst_percent") or 0.0
            at_s = case.value(f"{name}.late_worst_at_s") or 0.0
            when = f" by {worst:.3g} % {at_s:.0f} s into the window"
            evidence = (*evidence, f"{name}.late_worst_percent")
        yield Ruling(
            "warning",
            f"{phase.title}: the {who} fell behind the rate{when}: of {scheduled:,.0f} "
            f"transactions due, {late:,.0f} found no free session and {unsent:,.0f} were never "
            f"sent. Response times include the wait; {advice}.",
            phase.name,
            evidence,
        )


def _in_a_part(case: Case, phase: Phase, name: str) -> bool:
    """Whether a rate that changes was too high for a part of the window."""
    rate = recorded(phase.detail.get("loop"))
    worst = case.value(f"{name}.late_worst_percent") or 0
    return rate is not None and rate.changes and worst > MOST_LATE_PERCENT


RULE = Rule(
    code="behind",
    weight=Weight.DOUBTFUL,
    definition=(
        f"In an open loop more than {MOST_LATE_PERCENT:g} % were sent late or never; of a rate "
        "that changes also in a twentieth of the window, five intervals at least."
    ),
    explanation="Beyond its capacity a server's latency says only how long it was overloaded.",
    check=_check,
)
