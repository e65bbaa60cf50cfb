"""Timestamps of a study that are immune to changes of the wall clock.

The wall clock may be set during a study, by minutes or by days. A run would then have a negative
duration, or the time limit would expire at once.
"""

from __future__ import annotations

from dyno.bundle.model import Clock

_ANCHOR = Clock.now()


def now() -> float:
    """Seconds since the epoch: the wall clock at process start plus the monotonic time since."""
    return _ANCHOR.unix_now_ns() / 1e9
