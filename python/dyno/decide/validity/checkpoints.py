"""Few checkpoints: the window does not span enough checkpoint cycles."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.case import Case
from dyno.decide.rule import Rule, Ruling, Weight

FEWEST_CHECKPOINTS = 3


def _check(case: Case) -> Iterable[Ruling]:
    few = [
        (phase, at)
        for phase, at in case.levels()
        if (count := case.value(at.checkpoints)) is not None and count < FEWEST_CHECKPOINTS
    ]
    if not few:
        return
    phase, at = few[0]
    others = f" and {len(few) - 1} more" if len(few) > 1 else ""
    longest = case.estimate(at.checkpoint_interval_s)
    remedy = "Increase --duration."
    # Quickstart windows are shorter than any checkpoint interval.
    brief = case.bundle.run.verb == "quickstart"
    if brief:
        remedy = "`dyno run tpcc --duration` measures for longer."
    elif longest is not None:
        remedy = (
            f"Use --duration {FEWEST_CHECKPOINTS * longest.value:.0f}s or more, or a shorter "
            f"--set checkpoint_interval ({longest.source})."
        )
    yield Ruling(
        "note" if brief else "warning",
        f"{phase.title}{others}: checkpoints in the window: "
        f"{case.value(at.checkpoints):.0f}; steady state needs {FEWEST_CHECKPOINTS}. "
        f"{remedy}",
        phase.name,
        tuple(at.checkpoints.name for _, at in few),
    )


RULE = Rule(
    code="few-checkpoints",
    weight=Weight.DOUBTFUL,
    definition=(
        f"Fewer than {FEWEST_CHECKPOINTS} checkpoints started in the window, on servers that count "
        "them. A note for `dyno quickstart`, whose windows are short."
    ),
    explanation="A window between two checkpoints excludes their cost.",
    check=_check,
)
