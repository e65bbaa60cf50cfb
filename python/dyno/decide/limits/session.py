"""CPU of the sessions: each works on a processor as fast as it can, and others stand idle."""

from __future__ import annotations

from dyno.decide.limits.cpu import LEAST_PERCENT
from dyno.decide.view import Limit, LimitRule, View


def _weigh(view: View) -> Limit | None:
    busy = view.busy
    if busy is None or busy >= LEAST_PERCENT or view.sessions >= view.processors:
        return None
    used = busy / 100 * view.processors
    share = used / view.sessions
    if share < LEAST_PERCENT / 100:
        return None
    word = "one session" if view.sessions == 1 else f"{view.sessions} sessions"
    return Limit(
        f"the CPU of {word}",
        min(share, 1.0),
        f"{used:.1f} of {view.processors} processors were busy",
        (view.name("cpu", "host", "busy"),),
    )


RULE = LimitRule(
    code="cpu-of-sessions",
    definition=(
        f"Fewer sessions than processors, and at least {LEAST_PERCENT:g} % of a processor busy "
        "for each session."
    ),
    explanation="Faster processors or more parallelism would help; more of the same would not.",
    weigh=_weigh,
)
