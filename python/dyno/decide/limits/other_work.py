"""Other work: the processors are full, but not of what is measured."""

from __future__ import annotations

from dyno.decide.limits.cpu import LEAST_PERCENT
from dyno.decide.quiet import MOST_FOREIGN_PERCENT
from dyno.decide.view import Limit, LimitRule, View


def _weigh(view: View) -> Limit | None:
    busy, foreign = view.busy, view.foreign
    if busy is None or foreign is None:
        return None
    if busy < LEAST_PERCENT or foreign <= MOST_FOREIGN_PERCENT:
        return None
    return Limit(
        "other work on the machine",
        busy / 100,
        f"the {view.processors} processors were {busy:.0f} % busy, {foreign:.0f} % with work of "
        "neither the target nor Dyno",
        (view.name("cpu", "host", "busy"), view.name("process", "dyno", "cpu")),
    )


RULE = LimitRule(
    code="other-work",
    definition=(
        f"Mean busy time of all processors at least {LEAST_PERCENT:g} %, more than "
        f"{MOST_FOREIGN_PERCENT:g} % of it by other work."
    ),
    explanation="Stop the other work, or measure when it is quiet.",
    weigh=_weigh,
)
