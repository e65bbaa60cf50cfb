"""Lost work: work that the workload schedules itself was never done."""

from __future__ import annotations

from collections.abc import Iterable

from dyno import workloads
from dyno.bundle import metrics
from dyno.bundle.model import Phase
from dyno.bundle.phases.oltp import OltpDetail
from dyno.decide.case import Case
from dyno.decide.rule import Rule, Ruling, Weight

MOST_LOST_PERCENT = 1.0


def of_level(case: Case, phase: Phase[OltpDetail], at: metrics.Level) -> Ruling | None:
    """The ruling on a level; None if it lost nothing.

    The driver counts while throughput settles, too, so the main transactions are taken for all of
    that time.
    """
    lost = case.value(at.lost)
    if not lost:
        return None
    main = _main(phase, at)
    measured_s = case.value(at.seconds) or 1.0
    driven_s = measured_s + (case.value(at.left_out_s) or 0.0)
    done = (case.value(main.count) or 0.0) * driven_s / measured_s
    many = 100 * lost > MOST_LOST_PERCENT * done
    return Ruling(
        "invalid" if many else "warning",
        f"{phase.title}: the results of {lost:,.0f} orders were not recorded, because their "
        "transactions failed or the connection broke. Read the errors and the server's log.",
        phase.name,
        (at.lost.name, main.count.name),
    )


def _check(case: Case) -> Iterable[Ruling]:
    for phase, at in case.levels():
        ruling = of_level(case, phase, at)
        if ruling is not None:
            yield ruling


def _main(phase: Phase[OltpDetail], at: metrics.Level) -> metrics.Operation:
    """The main operation of a level."""
    own = phase.detail.workload
    return at.operation(workloads.driven([own] if own else []).main)


RULE = Rule(
    code="lost-work",
    weight=Weight.WRONG,
    definition=(
        "Failed transactions lost orders whose results were never recorded: more than "
        f"{MOST_LOST_PERCENT:g} % of the main transactions. Warning: fewer."
    ),
    explanation="Each lost order saves the database the transactions that would have followed.",
    check=_check,
)
