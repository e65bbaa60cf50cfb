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
        _shut(copy)

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        yield cut
    finally:
        timer.cancel()
        timer.join()
        copy.close()


HEED_S = 30.0
"""A statement that needs longer to end after a cancellation loses its connection."""


class Heed:
    """Closes the connection of a statement that does not end after its cancellation. Thread-safe.

    A frozen server still acknowledges what is sent, so nothing else would end the wait for it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._busy = False
        self._pending: tuple[threading.Timer, socket.socket] | None = None

    def begin(self) -> None:
        """Notes that a statement begins."""
        with self._lock:
            self._busy = True

    def end(self) -> None:
        """Notes that the statement has ended."""
        with self._lock:
            self._busy = False
            pending, self._pending = self._pending, None
        if pending is not None:
            timer, copy = pending
            timer.cancel()
            timer.join()
            copy.close()

    def cancelled(self, descriptor: int) -> None:
        """Starts the wait for the end of the running statement; nothing between statements.

        Args:
            descriptor: The socket of its connection.
        """
        with self._lock:
            if not self._busy or self._pending is not None:
                return
            copy = socket.socket(fileno=os.dup(descriptor))
            timer = threading.Timer(HEED_S, _shut, (copy,))
            timer.daemon = True
            self._pending = timer, copy
            timer.start()


def _shut(connection: socket.socket) -> None:
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
