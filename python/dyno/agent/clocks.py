"""The offset between the clocks of two machines, from round trips."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from dyno.agent.protocol import Clocks

_ROUNDS = 8
_MOST_DRIFT = 1e-4
"""Seconds that a clock gains or loses a second, at most."""


@dataclass(frozen=True)
class Offset:
    """One measurement.

    Attributes:
        at_ns: When, on the own monotonic clock.
        theirs_ns: The other monotonic clock minus the own one.
        bound_ns: Largest error of ``theirs_ns``: half the shortest round trip.
        wall_ns: The other wall clock minus the other monotonic clock.
    """

    at_ns: int
    theirs_ns: int
    bound_ns: int
    wall_ns: int

    def bound_at(self, now_ns: int) -> float:
        """Its bound at a later time, when the clocks may have drifted apart."""
        return self.bound_ns + _MOST_DRIFT * abs(now_ns - self.at_ns)


def measure(
    ask: Callable[[], Clocks],
    clock: Callable[[], int] = time.monotonic_ns,
    rounds: int = _ROUNDS,
) -> Offset:
    """Measures the offset; the shortest round trip counts.

    Raises:
        TargetError: If the other machine does not respond.
    """
    return min((_once(ask, clock) for _ in range(rounds)), key=lambda one: one.bound_ns)


def _once(ask: Callable[[], Clocks], clock: Callable[[], int]) -> Offset:
    sent = clock()
    theirs = ask()
    came = clock()
    middle = (sent + came) // 2
    bound = (came - sent + 1) // 2
    wall = theirs.unix_ns - theirs.monotonic_ns
    return Offset(middle, theirs.monotonic_ns - middle, bound, wall)


def better(known: Offset, new: Offset) -> Offset:
    """The offset with the smaller bound by now: a congested network measures badly."""
    return known if known.bound_at(new.at_ns) < new.bound_ns else new
