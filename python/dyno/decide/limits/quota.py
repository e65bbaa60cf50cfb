"""CPU quota: the engine used up the processors' time that the run allowed it."""

from __future__ import annotations

from dyno.decide.view import Limit, LimitRule, View

LEAST_PERCENT = 50.0


def _weigh(view: View) -> Limit | None:
    confined = view.case.bundle.run.confined
    share = None if confined is None else confined.throttled_share
    if confined is None or share is None or 100 * share < LEAST_PERCENT:
        return None
    quota = confined.limits.get("cpu")
    return Limit(
        "CPU quota",
        share,
        f"its limit of {quota} processors was used up in {100 * share:.0f} % of the periods",
        (f"throttled_periods = {confined.throttled_periods} of {confined.periods}",),
    )


RULE = LimitRule(
    code="quota",
    definition=(
        "The limit on CPU time that the run put on the engine (--limit cpu) was used up in at "
        f"least {LEAST_PERCENT:g} % of the periods in which the engine worked."
    ),
    explanation="A larger --limit cpu, or less work a transaction, would raise the figure.",
    weigh=_weigh,
)
