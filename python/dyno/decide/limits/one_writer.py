"""Single writer: transactions wait for the write lock of a single-writer engine."""

from __future__ import annotations

from dyno.decide.view import Limit, LimitRule, View

LEAST_PERCENT = 80.0


def _weigh(view: View) -> Limit | None:
    at = view.level
    busy = view.case.value(at.writer_busy_percent)
    if view.phase.kind != "oltp" or view.sessions < 2 or busy is None or busy <= LEAST_PERCENT:
        return None
    evidence = [at.writer_busy_percent.name]
    facts = f"the write lock was held {busy:.0f} % of the time{view.case.span(at)}"
    wait = view.case.value(at.writer_wait("mean"))
    if wait is not None:
        facts += f"; mean wait {wait:.1f} ms"
        evidence.append(at.writer_wait("mean").name)
    return Limit("the write lock (single writer)", min(busy / 100, 1.0), facts, tuple(evidence))


RULE = LimitRule(
    code="one-writer",
    definition=(
        "Several users on a single-writer engine, whose write lock was held more than "
        f"{LEAST_PERCENT:g} % of the time."
    ),
    explanation=(
        "More users only wait longer. Shorter transactions or asynchronous commits would help."
    ),
    weigh=_weigh,
)
