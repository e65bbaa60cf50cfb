"""Other work: no CPU is left, but not by what is measured."""

from __future__ import annotations

from dyno.decide.limits.cpu import LEAST_PERCENT, busy_words
from dyno.decide.quiet import MOST_FOREIGN_PERCENT
from dyno.decide.view import Limit, LimitRule, View


def _weigh(view: View) -> Limit | None:
    used, foreign = view.used, view.foreign
    if used is None or foreign is None:
        return None
    if used < LEAST_PERCENT or foreign <= MOST_FOREIGN_PERCENT:
        return None
    return Limit(
        "other work on the machine",
        used / 100,
        f"the {view.processors} CPUs were {busy_words(view)}, {foreign:.0f} % with work of "
        "neither the target nor Dyno",
        (view.resources.cpu_busy.mean.name, view.resources.process_cpu("dyno").mean.name),
    )


RULE = LimitRule(
    code="other-work",
    definition=(
        f"CPU busy or stolen at least {LEAST_PERCENT:g} % of the time on average, more than "
        f"{MOST_FOREIGN_PERCENT:g} % by other work on this machine."
    ),
    explanation="Stop the other work, or measure when it is quiet.",
    weigh=_weigh,
)
