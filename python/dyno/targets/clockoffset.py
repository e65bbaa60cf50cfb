"""How far a server's clock is ahead of the run's, once a minute.

Samples have the source ``clock``, the target's name as subject and the metric ``offset`` in
seconds. Of several round trips the shortest counts: the server read its clock within it, so the
error is at most half of its time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from dyno.bundle.model import Clock
from dyno.contracts.probe import Sample
from dyno.targets.sessionprobe import Ask, Asked, Session

SOURCE, METRIC = "clock", "offset"
EVERY_NS = 60_000_000_000
_TRIPS = 8


def asked(target: str, server_time: Callable[[Session], float]) -> Asked[Session]:
    """The probe of a server product.

    Args:
        target: The target's name.
        server_time: Asks the server in one round trip; seconds since the Unix epoch.
    """
    # The run's own anchor is of this process, too, and the wall clock may be set in between.
    clock = Clock.now()

    def make() -> Ask[Session]:
        due_ns = 0

        def read(session: Session, now_ns: int) -> Sequence[Sample]:
            nonlocal due_ns
            if now_ns < due_ns:
                return ()
            found = offset(lambda: server_time(session), clock.unix_now_ns)
            due_ns = now_ns + EVERY_NS
            return [Sample(SOURCE, target, METRIC, found, "s")]

        return read

    return Asked(make)


def offset(server_time: Callable[[], float], now_ns: Callable[[], int] = time.time_ns) -> float:
    """Seconds that the server's clock is ahead, from the shortest of several round trips.

    Args:
        server_time: Asks the server in one round trip; seconds since the Unix epoch.
        now_ns: The clock to compare with, in ns since the Unix epoch.
    """
    trips: list[tuple[int, float]] = []
    for _ in range(_TRIPS):
        before_ns = now_ns()
        theirs = server_time()
        after_ns = now_ns()
        middle_s = (before_ns + after_ns) / 2e9
        trips.append((after_ns - before_ns, theirs - middle_s))
    return min(trips)[1]
