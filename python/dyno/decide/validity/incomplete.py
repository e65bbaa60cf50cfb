"""Incomplete: the run did not do all that it set out to do."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.bundle.model import Phase, tells
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
            "interrupted": f"The run was interrupted{where}; what was measured until then stands.",
            "running": f"The run has not ended, or was killed{where}.",
        }
        yield Ruling("invalid", texts[run.status], at[-1].name if at else None, (run.status,))
        return
    for phase in run.phases:
        if phase.status != "done" and not _refused(case, phase):
            yield Ruling("invalid", f"{phase.title} did not end ({phase.status}).", phase.name)
    if not case.phases() and not case.phases("check"):
        yield Ruling("invalid", "The run measured nothing.")
    for phase, at in case.levels():
        if phase.status == "done" and not case.value(at.transactions):
            yield Ruling(
                "invalid",
                f"No transaction ended in the measured time of {phase.title}.",
                phase.name,
                (at.transactions.name,),
            )


def _refused(case: Case, phase: Phase) -> bool:
    """Whether it is a window of a search at a load that the server would not take."""
    return tells(phase, OltpDetail) and any(
        phase.detail.level in search.detail.refused for search in case.phases_of(SearchDetail)
    )


RULE = Rule(
    code="incomplete",
    weight=Weight.INCOMPLETE,
    definition="The run or a phase of it did not end well, or nothing was measured.",
    explanation="Totals of a part are no totals.",
    check=_check,
)
