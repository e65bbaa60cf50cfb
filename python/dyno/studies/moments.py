"""When things of a study happened: moments between which times are right whatever the clock does.

The wall clock may be set while a study works, by minutes or by days; a run then had lasted for less
than nothing, and the time limit would be used up at once.
"""

from __future__ import annotations

from dyno.bundle.model import Clock

_ANCHOR = Clock.now()


def now() -> float:
    """Seconds since the epoch: the wall clock as this process began, and what has passed since."""
    return _ANCHOR.unix_now_ns() / 1e9
