"""How far a server's clock is ahead of the run's, every half minute.

Samples have the source ``clock``, the target's name as subject and the metrics ``offset`` and
``bound``, its largest error, in seconds. Of several round trips the shortest counts: the server
read its clock within it, so the error is at most half of its time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from dyno.bundle.inside import CLOCK
from dyno.bundle.model import Clock
from dyno.contracts.probe import Sample
from dyno.targets.sessionprobe import Ask, Asked, Session

SOURCE = CLOCK
EVERY_NS = 30_000_000_000
_TRIPS = 8


class Offset(NamedTuple):
    """Seconds that a server's clock is ahead, and the largest error of that."""

    offset: float
    bound: float


def asked(target: str, server_time: Callable[[Session], float]) -> Asked[Session]:
    """The probe of a server product.

    Args:
        target: The target's name.
        server_time: Asks the server in one round trip; seconds since the Unix epoch.
    """

    def make() -> Ask[Session]:
        clock = Clock.now()  # a step of this machine's clock is none of the server's
        due_ns = 0
        known: Session | None = None

        def read(session: Session, now_ns: int) -> Sequence[Sample]:
            nonlocal due_ns, known
            if now_ns < due_ns and session is known:
                return ()
            known = session
            found = offset(lambda: server_time(session), clock.unix_now_ns)
            due_ns = now_ns + EVERY_NS
            return [
                Sample(SOURCE, target, name, value, "s") for name, value in found._asdict().items()
            ]

        return read

    return Asked(make)


def offset(server_time: Callable[[], float], now_ns: Callable[[], int] = time.time_ns) -> Offset:
    """Measures the offset with the shortest of several round trips.

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
    trip_ns, ahead_s = min(trips)
    return Offset(ahead_s, trip_ns / 2e9)
