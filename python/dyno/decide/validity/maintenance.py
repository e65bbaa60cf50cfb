"""Maintenance: it did not complete, or was too short to measure its cost."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.bundle import metrics
from dyno.bundle.metrics.during import PARTS
from dyno.bundle.model import Phase
from dyno.bundle.phases.maintenance import MaintenanceDetail
from dyno.contracts import databases
from dyno.decide.case import Case
from dyno.decide.rule import Rule, Ruling, Weight

FEWEST_INTERVALS = 5
FEWEST_QUERIES = 5
FEWEST_RUNS = 2
"""Executions of each query before and during it."""


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
        yield from _queries(phase, case)


def _queries(phase: Phase[MaintenanceDetail], case: Case) -> Iterable[Ruling]:
    """Warns of too few queries in a part, or of a query that ran too seldom for its spread.

    With several databases, each needs them: what ran in the others says nothing of it.
    """
    at = metrics.Maintenance(phase.name)
    several = databases.numbers(phase.detail.streams, phase.detail.streams_each)
    yield from _queries_of(phase, case, "", at) if not several else ()
    for number in several:
        yield from _queries_of(phase, case, f" in database {number}", at.database(number))


def _queries_of(
    phase: Phase[MaintenanceDetail], case: Case, where: str, at: metrics.Beside
) -> Iterable[Ruling]:
    for part in PARTS:
        own = at.part(part)
        counted, fewest = case.value(own.queries), case.value(own.fewest_runs)
        if counted is not None and counted < FEWEST_QUERIES:
            yield Ruling(
                "warning",
                f"{phase.title}: only {counted:.0f} queries{where} {part} it, too few to "
                "measure its cost. Increase --duration.",
                phase.name,
                (own.queries.name,),
            )
        elif part in ("before", "during") and fewest is not None and fewest < FEWEST_RUNS:
            yield Ruling(
                "warning",
                f"{phase.title}: a query{where} ran {('not once', 'only once')[fewest > 0]} {part} "
                "it, too seldom for an interval of the change. Increase --duration.",
                phase.name,
                (own.fewest_runs.name,),
            )


RULE = Rule(
    code="maintenance",
    weight=Weight.WRONG,
    definition=(
        "Maintenance during the workload did not complete, or queries around it failed. Warning: "
        f"fewer than {FEWEST_INTERVALS} whole intervals or {FEWEST_QUERIES} queries before, during "
        f"or after it, or a query that ran fewer than {FEWEST_RUNS} times before or during it. Of "
        "several databases, each needs as many queries."
    ),
    explanation="Incomplete maintenance does not show its full cost.",
    check=_check,
)
