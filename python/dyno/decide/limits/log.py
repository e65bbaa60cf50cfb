"""Log: sessions wait until their commits are on the log device."""

from __future__ import annotations

from dyno.decide.io_waits import io_limit
from dyno.decide.view import Limit, LimitRule, View
from dyno.decide.waits import LEAST_SHARE


def _weigh(view: View) -> Limit | None:
    return io_limit(view, "log", "log", "the log")


RULE = LimitRule(
    code="log",
    definition=f"Sessions spend at least {LEAST_SHARE:.0%} of their time in writes to the log.",
    explanation=(
        "A log device with faster flushes, a device of its own for the log, or more users for "
        "group commit would help."
    ),
    weigh=_weigh,
    anywhere=True,
)
