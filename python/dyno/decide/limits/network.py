"""Round trips: sessions are idle in the database, while their clients wait for the network."""

from __future__ import annotations

from dyno.bundle.inside import CLOCK
from dyno.decide.limits.cpu import LEAST_PERCENT
from dyno.decide.view import Limit, LimitRule, View

LEAST_SHARE = 0.5


def _weigh(view: View) -> Limit | None:
    waits, used = view.waits, view.used
    if waits is None or not view.closed:
        return None
    if used is not None and used >= LEAST_PERCENT:
        return None  # the driver may only wait for a CPU
    outside = waits.outside if view.phase.kind == "oltp" else 0.0
    share = outside + waits.share("client")
    if share < LEAST_SHARE:
        return None
    facts = f"{waits.active:.1f} of {view.sessions} sessions were active in the database"
    evidence = [name for names in waits.names.values() for name in names]
    if waits.share("client"):
        facts += f"; {waits.words('client')}"
    thread = view.case.value(view.level.client_thread_percent)
    if thread is not None:
        facts += f"; the busiest thread of the driver was busy {thread:.0f} % of the time"
        evidence.append(view.level.client_thread_percent.name)
    trip = view.reported.sampled(CLOCK, str(view.phase.target), "bound").mean
    if (bound_s := view.case.value(trip)) is not None:
        facts += f"; a round trip takes {2e3 * bound_s:.2g} ms"  # the bound is half of it
        evidence.append(trip.name)
    resent = view.resources.sampled("network", "tcp", "retransmitted").mean
    if (percent := view.case.value(resent)) is not None and percent >= 0.1:
        facts += f"; {percent:.1f} % of the TCP segments were sent again"
        evidence.append(resent.name)
    return Limit("round trips between driver and database", min(share, 1.0), facts, tuple(evidence))


RULE = LimitRule(
    code="network",
    definition=(
        f"Sessions without think time spend at least {LEAST_SHARE:.0%} of their time outside the "
        f"database or in waits for the client, while the CPU is below {LEAST_PERCENT:g} % and the "
        "driver is not saturated."
    ),
    explanation="A shorter network path, or fewer statements (stored procedures), would help.",
    weigh=_weigh,
    anywhere=True,
)
