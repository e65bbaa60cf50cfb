"""Repeated: a part was measured once more, as the machine was not quiet the first time."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.bundle.phases.superseded import SupersededDetail
from dyno.decide.case import MEASURED, Case
from dyno.decide.rule import Rule, Ruling, Weight


def _check(case: Case) -> Iterable[Ruling]:
    for phase in case.phases_of(SupersededDetail):
        if phase.detail.kind in MEASURED:
            yield Ruling(
                "note",
                f"{phase.title.removesuffix(' (first attempt)')} was repeated, as the machine was "
                f"not quiet at first ({phase.detail.why}). The repeat counts; the first "
                "attempt is under superseded/ in the bundle.",
                phase.name,
                ("kind = superseded",),
            )


RULE = Rule(
    code="repeated",
    weight=Weight.DOUBTFUL,
    definition=(
        "The machine was not quiet in a phase of `dyno quickstart`, which then measured it once "
        "more. Always a note."
    ),
    explanation="A repeat shows whether it was the machine. Its values are those that count.",
    check=_check,
)
