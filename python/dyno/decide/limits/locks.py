"""Locks: sessions wait for other transactions."""

from __future__ import annotations

from dyno.bundle.inside import Inside
from dyno.decide.view import Limit, LimitRule, View
from dyno.decide.waits import LEAST_SHARE


def _weigh(view: View) -> Limit | None:
    waits = view.waits
    if waits is None or waits.share("lock") < LEAST_SHARE:
        return None
    facts = waits.words("lock")
    began = view.inside(Inside.lock_waits)
    if began:
        facts += f"; {began:.0f} lock waits/s"
    return Limit("locks", min(waits.share("lock"), 1.0), facts, waits.names["lock"])


RULE = LimitRule(
    code="locks",
    definition=f"Sessions spend at least {LEAST_SHARE:.0%} of their time in waits for locks.",
    explanation=(
        "More hardware only helps as far as it shortens transactions. Shorter transactions, or "
        "fewer of them on the same rows, would help."
    ),
    weigh=_weigh,
    anywhere=True,
)
