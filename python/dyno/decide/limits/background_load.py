"""Background load: other processes saturate the CPU."""

from __future__ import annotations

from dyno.decide.limits.cpu import LEAST_PERCENT, busy_words
from dyno.decide.quiet import MOST_FOREIGN_PERCENT
from dyno.decide.view import Limit, LimitRule, View
from dyno.decide.waits import LEAST_SHARE


def _weigh(view: View) -> Limit | None:
    used, foreign = view.used, view.foreign
    if used is None or foreign is None or view.confined:
        return None  # which CPUs the others used is unknown
    if used < LEAST_PERCENT or foreign <= MOST_FOREIGN_PERCENT or not view.needs_cpu:
        return None
    return Limit(
        "background load",
        used / 100,
        f"the {view.processors} CPUs were {busy_words(view)}, {foreign:.0f} % background load",
        (view.resources.cpu_busy.mean.name, view.resources.process_cpu("dyno").mean.name),
    )


RULE = LimitRule(
    code="background-load",
    definition=(
        f"Mean CPU utilisation plus steal of at least {LEAST_PERCENT:g} %, with more than "
        f"{MOST_FOREIGN_PERCENT:g} % background load, unless sessions spend less than "
        f"{LEAST_SHARE:.0%} of their time running or outside the database."
    ),
    explanation="Stop the other processes, or measure when the machine is quiet.",
    weigh=_weigh,
)
