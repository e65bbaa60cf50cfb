"""The one writer: a system that lets a single transaction write at a time, and users who wait."""

from __future__ import annotations

from dyno.decide.view import Limit, LimitRule, View

LEAST_PERCENT = 80.0


def _weigh(view: View) -> Limit | None:
    at = view.level
    busy = view.case.value(at.writer_busy_percent)
    if view.phase.kind != "oltp" or view.sessions < 2 or busy is None or busy <= LEAST_PERCENT:
        return None
    evidence = [at.writer_busy_percent.name]
    facts = f"one transaction at a time may write, and one did {busy:.0f} % of the time"
    wait = view.case.value(at.writer_wait("mean"))
    if wait is not None:
        facts += f"; each waited {wait:.1f} ms for its turn on average"
        evidence.append(at.writer_wait("mean").name)
    return Limit("the one writer", min(busy / 100, 1.0), facts, tuple(evidence))


RULE = LimitRule(
    code="one-writer",
    definition=(
        "Several users on a system with one writer, whose right to write was held more than "
        f"{LEAST_PERCENT:g} % of the time."
    ),
    explanation=(
        "More users only wait longer. Shorter transactions, or commits that do not wait for "
        "storage, would raise the figure."
    ),
    weigh=_weigh,
)
