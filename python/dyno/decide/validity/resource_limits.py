"""Resource limits: the memory limit killed a process, or the driver shares the limits."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.case import Case
from dyno.decide.rule import Rule, Ruling, Weight


def _check(case: Case) -> Iterable[Ruling]:
    confined = case.bundle.run.confined
    if confined is None:
        return
    if confined.killed:
        several = confined.killed > 1
        yield Ruling(
            "invalid",
            f"The OOM killer killed {confined.killed} process{'es' * several} of the engine: "
            f"memory limit {confined.limits.get('memory')} (--limit memory). Increase the limit "
            "or reduce the load.",
            None,
            (f"killed = {confined.killed}",),
        )
    if confined.where == "process" and case.bundle.run.verb != "io":
        yield Ruling(
            "note",
            "The driver shares the engine's limits ("
            f"{', '.join(f'{word} = {text}' for word, text in confined.limits.items())}): the "
            "engine runs in Dyno's process.",
            None,
            ("where = process",),
        )


RULE = Rule(
    code="resource-limits",
    weight=Weight.WRONG,
    definition=(
        "The OOM killer killed a process of the engine at the run's memory limit. Note: the engine "
        "runs in Dyno's process, so the limits also apply to the driver."
    ),
    explanation=(
        "The killed process lost its work, and the server stalled during recovery. A driver under "
        "the engine's CPU limit slows down with it."
    ),
    check=_check,
)
