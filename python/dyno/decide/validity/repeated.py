"""Repeated: a phase was repeated because the machine was not quiet."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.bundle.phases.superseded import SupersededDetail
from dyno.decide.case import MEASURED, Case
from dyno.decide.rule import Rule, Ruling, Weight


def _check(case: Case) -> Iterable[Ruling]:
    for phase in case.phases_of(SupersededDetail):
        if phase.detail.kind in MEASURED and phase.title.endswith(" (first attempt)"):
            yield Ruling(
                "note",
                f"{phase.title.removesuffix(' (first attempt)')} was repeated because the machine "
                f"was not quiet ({phase.detail.why}). The repeat counts; the first attempt is in "
                "superseded/ in the bundle.",
                phase.name,
                ("kind = superseded",),
            )


RULE = Rule(
    code="repeated",
    weight=Weight.DOUBTFUL,
    definition=(
        "The machine was not quiet in a phase of `dyno quickstart`, which repeated the phase once. "
        "Always a note."
    ),
    explanation="The repeat shows whether the machine was the cause. Only its values count.",
    check=_check,
)
