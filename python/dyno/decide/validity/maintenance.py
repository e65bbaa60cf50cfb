"""Maintenance: it did not end, or was too short to tell what it costs."""

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
            yield Ruling("invalid", f"{phase.title} did not end: {error}", phase.name)
            continue
        failed = case.value(at.queries_failed)
        if failed:
            yield Ruling(
                "invalid",
                f"{failed:.0f} queries failed round the {phase.title.lower()}; what is left does "
                "not compare.",
                phase.name,
                (at.queries_failed.name,),
            )
        for part in PARTS:
            counted = case.value(at.part(part).intervals)
            if counted is not None and counted < FEWEST_INTERVALS:
                yield Ruling(
                    "warning",
                    f"{phase.title}: only {counted:.0f} whole seconds {part} it, too few for its "
                    "cost. Give a longer --duration.",
                    phase.name,
                    (at.part(part).intervals.name,),
                )


RULE = Rule(
    code="maintenance",
    weight=Weight.WRONG,
    definition=(
        "Maintenance that ran during the work did not end, or queries round it failed (a warning: "
        f"fewer than {FEWEST_INTERVALS} whole intervals before, during or after it)."
    ),
    explanation="What a piece of maintenance costs is known only once it is done.",
    check=_check,
)
