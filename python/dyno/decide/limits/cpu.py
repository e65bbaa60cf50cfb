"""CPU: the processors of the machine have nothing left."""

from __future__ import annotations

from dyno.decide.quiet import MOST_FOREIGN_PERCENT
from dyno.decide.view import Limit, LimitRule, View

LEAST_PERCENT = 85.0


def _weigh(view: View) -> Limit | None:
    busy = view.busy
    foreign = view.foreign or 0.0
    if busy is None or busy < LEAST_PERCENT or foreign > MOST_FOREIGN_PERCENT:
        return None
    facts = f"the {view.processors} processors were {busy:.0f} % busy"
    evidence = [view.name("cpu", "host", "busy")]
    driver = view.case.value(f"oltp.{view.phase.detail.get('level')}.client_cpu_s")
    if driver is not None and view.phase.kind == "oltp" and view.phase.detail.get("duration_s"):
        seconds = view.case.value(f"oltp.{view.phase.detail.get('level')}.seconds") or 0
        if seconds > 0:
            share = 100 * driver / (seconds * view.processors)
            facts += f" (the driver took {share:.0f} %)"
    return Limit("CPU", busy / 100, facts, tuple(evidence))


RULE = LimitRule(
    code="cpu",
    definition=(
        f"Mean busy time of all processors at least {LEAST_PERCENT:g} %, not more than "
        f"{MOST_FOREIGN_PERCENT:g} % of it by other work."
    ),
    explanation="More or faster processors, or less work a transaction, would raise the figure.",
    weigh=_weigh,
)
