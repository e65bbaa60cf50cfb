"""A login with a timeout, even against an impostor.

PyMySQL's timeouts apply to a single read or write, so a server that sends a byte now and then could
block forever. They would also abort long statements. Here the whole login has one timeout and
statements have none, but TCP keepalive drops a connection with a dead peer.
"""

from __future__ import annotations

import struct
import time
from typing import Any, cast

import pymysql
import pymysql.connections

from dyno.errors import DynoError, TargetError
from dyno.targets.patience import keep_alive

LONGEST = 1 << 16
"""Maximum bytes of a packet during login; the longest, a public key, has less than 8 KiB."""

GARBLED = (pymysql.InternalError, struct.error, LookupError, ValueError, TypeError, AttributeError)
"""Exceptions of PyMySQL on malformed packets."""


class LimitedConnection(pymysql.connections.Connection):
    """A driver connection with a login timeout and a limit on packet length.

    The limit holds until :meth:`settle`.
    """

    def __init__(self, *, server: str, limit_s: float, **driver: Any) -> None:
        """Connects.

        Args:
            server: The server, for messages.
            limit_s: Timeout in seconds for the login and everything until :meth:`settle`.
            driver: Arguments of PyMySQL's ``connect``.

        Raises:
            TargetError: If the server does not respond in time, or is not MySQL.
        """
        self._server = server
        self._limit_s = limit_s
        self._due: float | None = None
        self._greeted = False
        super().__init__(connect_timeout=limit_s, **driver)  # pyright: ignore[reportArgumentType]

    def connect(self, sock: Any = None) -> None:
        """Connects and logs in (see the class)."""
        self._due = time.monotonic() + self._limit_s
        try:
            super().connect(sock)
        except pymysql.OperationalError as error:
            if self._greeted and isinstance(getattr(error, "original_exception", 0), TimeoutError):
                raise self._late() from error
            raise
        except (DynoError, pymysql.ProgrammingError):
            raise
        except GARBLED as error:
            raise self.foreign() from error

    def settle(self) -> None:
        """Ends the timeout; statements from here on have none."""
        self._due = None
        own = self._own()
        own._write_timeout = own._current_timeout = None
        own._sock.settimeout(None)
        keep_alive(own._sock.fileno())

    def _request_authentication(self) -> None:
        self._greeted = True
        # With a socket timeout, Python applies it to the TLS handshake.
        self._own()._write_timeout = self._left()
        cast("Any", super())._request_authentication()

    def _read_bytes(self, num_bytes: int) -> bytes:
        if self._due is None:
            return cast("Any", super())._read_bytes(num_bytes)
        own, found = self._own(), b""
        if num_bytes > LONGEST:
            own._force_close()
            raise self.foreign()
        while len(found) < num_bytes:
            try:
                own._sock.settimeout(self._left())
                piece = own._rfile.read1(num_bytes - len(found))
            except TimeoutError:
                own._force_close()
                raise self._late() from None
            except OSError as error:
                own._force_close()
                message = f"{self._server} closed the connection during login: {error}."
                raise TargetError(message) from error
            if not piece:
                own._force_close()
                raise TargetError(
                    f"{self._server} accepted the connection and closed it during login. Is it "
                    "MariaDB or MySQL?"
                )
            found += piece
        return found

    def _left(self) -> float:
        """The remaining seconds.

        Raises:
            TimeoutError: If the time is over.
        """
        left = self._limit_s if self._due is None else self._due - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return left

    def _late(self) -> TargetError:
        return TargetError(
            f"{self._server} accepted the connection but sent no MySQL handshake within "
            f"{self._limit_s:g} s. Is it MariaDB or MySQL? Add ?connect_timeout=60 to the URL "
            "to wait longer."
        )

    def foreign(self) -> TargetError:
        """The error for an invalid response."""
        return TargetError(
            f"{self._server} does not speak the MySQL protocol; correct host and port in the URL.",
        )

    def _own(self) -> Any:
        """Private members of PyMySQL, missing in its type stubs."""
        return self
