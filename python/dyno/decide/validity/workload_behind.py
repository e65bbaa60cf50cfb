"""Workload behind: what the workload itself schedules was done late."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.bundle import metrics
from dyno.bundle.model import Phase
from dyno.bundle.phases.oltp import OltpDetail
from dyno.decide.case import Case
from dyno.decide.rule import Rule, Ruling, Weight

MOST_MS = 1000.0


MOST_UNSENT_PERCENT = 1.0


def _check(case: Case) -> Iterable[Ruling]:
    for phase, at in case.levels():
        yield from _replay(case, phase, at)
        behind = case.value(at.behind_ms)
        if behind is not None and behind > MOST_MS:
            yield Ruling(
                "invalid",
                f"{phase.title}: work that was due, such as the results of trades, waited up to "
                f"{behind / 1000:.1f} s for a user. Use more --users, or a higher --rate.",
                phase.name,
                (at.behind_ms.name,),
            )


def _replay(case: Case, phase: Phase[OltpDetail], at: metrics.Level) -> Iterable[Ruling]:
    """A replay whose statements were sent late or never."""
    late_ms = case.value(at.schedule_late("p99"))
    scheduled, unsent = case.value(at.scheduled) or 0, case.value(at.unsent) or 0
    if not phase.detail.is_replay or late_ms is None:
        return
    if late_ms > MOST_MS or 100 * unsent > MOST_UNSENT_PERCENT * scheduled:
        yield Ruling(
            "invalid",
            f"{phase.title}: the replay fell behind the log: 1 % of the statements were sent at "
            f"least {late_ms / 1000:.1f} s late, and {unsent:,.0f} of {scheduled:,.0f} never. "
            "Use a lower --speed.",
            phase.name,
            (at.schedule_late("p99").name, at.unsent.name),
        )


RULE = Rule(
    code="workload-behind",
    weight=Weight.WRONG,
    definition="Work that the workload schedules itself started more than 1 s late; in a replay, "
    "more than 1 % of the statements, or 1 % were never sent.",
    explanation="The stock exchange of brokerage answers within seconds. If its results wait for a "
    "user, their share of the work is too small. A late replay differs from the log.",
    check=_check,
)
