"""Incomplete: the run or a phase did not complete."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.bundle.model import Phase, has_detail
from dyno.bundle.phases.maintenance import MaintenanceDetail
from dyno.bundle.phases.oltp import OltpDetail
from dyno.bundle.phases.search import SearchDetail
from dyno.decide.case import Case
from dyno.decide.rule import Rule, Ruling, Weight


def _check(case: Case) -> Iterable[Ruling]:
    run = case.bundle.run
    if run.status != "done":
        at = [phase for phase in run.phases if phase.status != "done"]
        where = f" during {at[-1].title}" if at else ""
        texts = {
            "failed": f"The run failed{where}: {run.error or 'no reason recorded'}",
            "interrupted": f"The run was interrupted{where}. Results up to then are kept.",
            "running": f"The run is still active, or was killed{where}.",
        }
        yield Ruling("invalid", texts[run.status], at[-1].name if at else None, (run.status,))
        return
    for phase in run.phases:
        if phase.status != "done" and not _refused(case, phase):
            yield Ruling("invalid", f"{phase.title} did not complete ({phase.status}).", phase.name)
    estimated = any(phase.detail.estimate_only for phase in case.phases_of(MaintenanceDetail))
    if not case.phases() and not case.phases("check", "watch") and not estimated:
        yield Ruling("invalid", "The run measured nothing.")
    for phase, at in case.levels():
        if phase.status == "done" and not case.value(at.transactions):
            yield Ruling(
                "invalid",
                f"{phase.title}: no transaction ended in the window.",
                phase.name,
                (at.transactions.name,),
            )


def _refused(case: Case, phase: Phase) -> bool:
    """Whether it is a search window at a load whose sessions the server refused."""
    return has_detail(phase, OltpDetail) and any(
        phase.detail.level in search.detail.refused for search in case.phases_of(SearchDetail)
    )


RULE = Rule(
    code="incomplete",
    weight=Weight.INCOMPLETE,
    definition="The run or one of its phases did not complete, or nothing was measured.",
    explanation="Partial results are not comparable.",
    check=_check,
)
