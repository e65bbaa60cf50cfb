"""CPU quota: the engine exhausted its CPU quota."""

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
        f"the quota of {quota} CPUs throttled {100 * share:.0f} % of the periods",
        (f"throttled_periods = {confined.throttled_periods} of {confined.periods}",),
    )


RULE = LimitRule(
    code="quota",
    definition=(
        f"The engine's CPU quota (--limit cpu) throttled it in at least {LEAST_PERCENT:g} % of the "
        "periods in which it was active."
    ),
    explanation="A larger --limit cpu, or less work per transaction, would help.",
    weigh=_weigh,
)
