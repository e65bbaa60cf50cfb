"""Limited: a limit on memory killed processes, or the driver shared the limits of the engine."""

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
            f"The kernel killed {confined.killed} process{'es' * several} of the engine: memory "
            f"limit of {confined.limits.get('memory')} (--limit memory). Give it more, or less to "
            "do.",
            None,
            (f"killed = {confined.killed}",),
        )
    if confined.where == "process" and case.bundle.run.verb != "io":
        yield Ruling(
            "note",
            "The driver shares the engine's limits ("
            f"{', '.join(f'{word} = {text}' for word, text in confined.limits.items())}): the "
            "engine works in Dyno's own process.",
            None,
            ("where = process",),
        )


RULE = Rule(
    code="limited",
    weight=Weight.WRONG,
    definition=(
        "The kernel killed a process of the engine, since it reached the limit on memory that the "
        "run had put on it. A note: the limits held for Dyno's own process, in which it works."
    ),
    explanation=(
        "What a killed process had under way is missing, and the rest stood still while the server "
        "recovered. A driver within a limit of processors is slowed down with the engine."
    ),
    check=_check,
)
