"""Empty interval: in an interval of a certificate queries failed, or none completed."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.bundle import metrics
from dyno.bundle.phases.certify import CertifyDetail
from dyno.decide.case import Case
from dyno.decide.rule import Rule, Ruling, Weight


def _check(case: Case) -> Iterable[Ruling]:
    for phase in case.phases_of(CertifyDetail):
        if phase.status != "done":
            continue  # the run is incomplete
        at = metrics.Interval.of(phase)
        failed, completed = case.value(at.failed), case.value(at.completed)
        if failed:
            name, reason = next(iter((phase.detail.errors or {}).items()), ("", ""))
            first = f"; the first: {name} ({reason.rstrip('.')})" if name else ""
            yield Ruling(
                "invalid",
                f"{phase.title}: {failed:,.0f} queries failed in the window{first}.",
                phase.name,
                (at.failed.name,),
            )
        elif not completed:
            yield Ruling(
                "invalid",
                f"{phase.title}: no query completed in the window. Use a longer --duration, or a "
                "smaller --scale.",
                phase.name,
                (at.completed.name,),
            )


RULE = Rule(
    code="empty-interval",
    weight=Weight.WRONG,
    definition="In an interval of a certificate a query failed, or no query completed.",
    explanation="Failed queries are often fast, and a rate without a completed query is unknown.",
    check=_check,
)
