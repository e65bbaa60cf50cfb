"""Timeouts of sessions: for a login, and for a dead peer. Statements have no timeout here."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from collections.abc import Generator

CONNECT_S = 10
"""Default login timeout in seconds (URL parameter ``connect_timeout``)."""

LONGEST_S = 3600
"""Maximum login timeout in seconds."""

ALIVE = {"TCP_KEEPIDLE": 60, "TCP_KEEPINTVL": 10, "TCP_KEEPCNT": 6}
"""TCP keepalive: idle seconds, seconds between probes, number of probes."""

UNHEARD_MS = 120_000
"""TCP user timeout in milliseconds."""


def keep_alive(descriptor: int) -> None:
    """Makes the system drop a TCP connection with a dead peer; does nothing for other sockets."""
    with contextlib.closing(socket.socket(fileno=os.dup(descriptor))) as copy:
        if copy.family not in (socket.AF_INET, socket.AF_INET6):
            return
        copy.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, value in {**ALIVE, "TCP_USER_TIMEOUT": UNHEARD_MS}.items():
            if hasattr(socket, name):  # Linux has all of them
                copy.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


@contextlib.contextmanager
def cut_after(seconds: float, descriptor: int) -> Generator[threading.Event]:
    """Closes a connection if the block takes longer; sets the event then."""
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
