"""How long a session waits for a server: for a login seconds, for an answer as long as it lives."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from collections.abc import Generator

CONNECT_S = 10
"""Seconds that a login may take, where the URL does not say (``connect_timeout``)."""

LONGEST_S = 3600
"""Seconds that it may be given."""

ALIVE = {"TCP_KEEPIDLE": 60, "TCP_KEEPINTVL": 10, "TCP_KEEPCNT": 6}
"""Seconds until a silent peer is asked whether it is there, seconds between, and how often."""

UNHEARD_MS = 120_000
"""Milliseconds after which a connection is given up whose peer takes nothing."""


def keep_alive(descriptor: int) -> None:
    """Has the system give up a TCP connection whose other end is gone; other sockets stay as is."""
    with contextlib.closing(socket.socket(fileno=os.dup(descriptor))) as copy:
        if copy.family not in (socket.AF_INET, socket.AF_INET6):
            return
        copy.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, value in {**ALIVE, "TCP_USER_TIMEOUT": UNHEARD_MS}.items():
            if hasattr(socket, name):  # Linux has all of them
                copy.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


@contextlib.contextmanager
def cut_after(seconds: float, descriptor: int) -> Generator[threading.Event]:
    """Cuts a connection if the work inside the block takes longer; the event tells that it did."""
    cut = threading.Event()
    copy = socket.socket(fileno=os.dup(descriptor))

    def end() -> None:
        cut.set()
        with contextlib.suppress(OSError):
            copy.shutdown(socket.SHUT_RDWR)

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        yield cut
    finally:
        timer.cancel()
        timer.join()
        copy.close()
