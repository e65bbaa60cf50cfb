"""Few checkpoints: the window does not span the waves of the server's own writing."""

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
    remedy = "Give a longer --duration."
    # A first look at a machine is shorter than any interval between checkpoints, and says so.
    brief = case.bundle.run.verb == "quickstart"
    if brief:
        remedy = "`dyno run tpcc --duration` measures for longer."
    elif longest is not None:
        remedy = (
            f"Give --duration {FEWEST_CHECKPOINTS * longest.value:.0f}s or more, or a shorter "
            f"--set checkpoint_interval ({longest.source})."
        )
    yield Ruling(
        "note" if brief else "warning",
        f"{phase.title}{others}: checkpoints begun in the window: "
        f"{case.value(at.checkpoints):.0f}; steady work spans {FEWEST_CHECKPOINTS}. "
        f"{remedy}",
        phase.name,
        tuple(at.checkpoints.name for _, at in few),
    )


RULE = Rule(
    code="few-checkpoints",
    weight=Weight.DOUBTFUL,
    definition=(
        f"Fewer than {FEWEST_CHECKPOINTS} of the server's checkpoints began in the window, where "
        "it counts them (of `dyno quickstart`, whose windows are short, a note)."
    ),
    explanation="Work between two checkpoints is spared what they cost.",
    check=_check,
)
