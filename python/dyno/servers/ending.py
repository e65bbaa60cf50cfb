"""Whether a private server whose sessions broke has come to its end."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

_SEEN_S = 1.0
_PATIENCE_S = 15.0
_POLL_S = 0.05


def ended(exited: threading.Event, answers: Callable[[], bool]) -> bool:
    """Whether the server has ended, or is about to.

    A broken session is seen a moment before the server's end is: its other processes end first,
    and on a busy machine that takes seconds. A server that takes sessions a second later is well.

    Args:
        exited: Set once the server's process has ended.
        answers: Whether the server takes a session.
    """
    if exited.wait(_SEEN_S):
        return True
    give_up = time.monotonic() + _PATIENCE_S
    while not answers() and time.monotonic() < give_up:
        if exited.wait(_POLL_S):
            return True
    return exited.is_set()
