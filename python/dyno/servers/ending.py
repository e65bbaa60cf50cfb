"""Detects that a private server with broken sessions has exited."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

_SEEN_S = 1.0
_PATIENCE_S = 15.0
_POLL_S = 0.05


def ended(exited: threading.Event, answers: Callable[[], bool]) -> bool:
    """Whether the server has exited, or is about to.

    A session breaks a moment before the server exits: its child processes end first, which takes
    seconds on a busy machine. A server that accepts sessions a second later is well.

    Args:
        exited: Set when the server's process has ended.
        answers: Whether the server accepts a session.
    """
    if exited.wait(_SEEN_S):
        return True
    give_up = time.monotonic() + _PATIENCE_S
    while not answers() and time.monotonic() < give_up:
        if exited.wait(_POLL_S):
            return True
    return exited.is_set()
