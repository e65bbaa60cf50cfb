"""Maintenance: it did not complete, or was too short to measure its cost."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.bundle import metrics
from dyno.bundle.metrics.during import PARTS
from dyno.bundle.phases.maintenance import MaintenanceDetail
from dyno.decide.case import Case
from dyno.decide.rule import Rule, Ruling, Weight

FEWEST_INTERVALS = 5


def _check(case: Case) -> Iterable[Ruling]:
    for phase in case.phases_of(MaintenanceDetail):
        at = metrics.Maintenance(phase.name)
        error = phase.detail.error
        if error is not None:
            yield Ruling("invalid", f"{phase.title} did not complete: {error}", phase.name)
            continue
        failed = case.value(at.queries_failed)
        if failed:
            yield Ruling(
                "invalid",
                f"{failed:.0f} queries failed around the {phase.title.lower()}. The rest cannot be "
                "compared.",
                phase.name,
                (at.queries_failed.name,),
            )
        for part in PARTS:
            counted = case.value(at.part(part).intervals)
            if counted is not None and counted < FEWEST_INTERVALS:
                yield Ruling(
                    "warning",
                    f"{phase.title}: only {counted:.0f} whole seconds {part} it, too few to "
                    "measure its cost. Increase --duration.",
                    phase.name,
                    (at.part(part).intervals.name,),
                )


RULE = Rule(
    code="maintenance",
    weight=Weight.WRONG,
    definition=(
        "Maintenance during the workload did not complete, or queries around it failed. Warning: "
        f"fewer than {FEWEST_INTERVALS} whole intervals before, during or after it."
    ),
    explanation="Incomplete maintenance does not show its full cost.",
    check=_check,
)
