"""Latches: sessions wait for each other inside the engine."""

from __future__ import annotations

from dyno.decide.view import Limit, LimitRule, View
from dyno.decide.waits import LEAST_SHARE


def _weigh(view: View) -> Limit | None:
    waits = view.waits
    if waits is None or waits.share("latch") < LEAST_SHARE:
        return None
    share = min(waits.share("latch"), 1.0)
    return Limit("latches of the engine", share, waits.words("latch"), waits.names["latch"])


RULE = LimitRule(
    code="latch",
    definition=(
        f"Sessions spend at least {LEAST_SHARE:.0%} of their time in waits for other threads "
        "inside the engine."
    ),
    explanation="Fewer sessions, partitioning, or a version with finer latches would help.",
    weigh=_weigh,
    anywhere=True,
)
