"""Memory: processes wait until the kernel has reclaimed memory."""

from __future__ import annotations

from dyno.decide.view import Limit, LimitRule, View

LEAST_PERCENT = 20.0


def _weigh(view: View) -> Limit | None:
    pressure = view.resources.sampled("pressure", "memory", "some")
    percent = view.mean(pressure)
    if percent is None or percent < LEAST_PERCENT:
        return None
    facts = f"some task waited for memory {percent:.0f} % of the time"
    confined = view.case.bundle.run.confined
    if confined is not None and confined.limits.get("memory"):
        facts += f", with a limit of {confined.limits['memory']}"
    return Limit("memory", percent / 100, facts, (pressure.mean.name,))


RULE = LimitRule(
    code="memory",
    definition=f"Memory pressure (PSI some) of at least {LEAST_PERCENT:g} %.",
    explanation="More memory, or smaller caches and work memory, would help.",
    weigh=_weigh,
)
