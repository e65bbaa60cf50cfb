"""Servers that are no database: each kind does one thing that a client must survive."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from collections.abc import Callable
from types import TracebackType

Talk = Callable[[socket.socket, threading.Event, bytes], None]


def silent(client: socket.socket, ended: threading.Event, opening: bytes) -> None:
    """Takes the connection and says nothing."""
    _wait(client, ended)


def closing(client: socket.socket, ended: threading.Event, opening: bytes) -> None:
    """Closes at once."""


def junk(client: socket.socket, ended: threading.Event, opening: bytes) -> None:
    """Sends bytes that are in no protocol."""
    client.sendall(bytes(range(7, 200)) * 20)
    _wait(client, ended)


def http(client: socket.socket, ended: threading.Event, opening: bytes) -> None:
    """Answers as a web server does."""
    client.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
    _wait(client, ended)


def endless(client: socket.socket, ended: threading.Event, opening: bytes) -> None:
    """Sends on and on: of a protocol's frames none is ever whole."""
    while not ended.is_set():
        client.sendall(b"\xff\xff\xff\x00" + b"R" * (1 << 16))


def half(client: socket.socket, ended: threading.Event, opening: bytes) -> None:
    """Sends half of what a server says first."""
    client.sendall(opening[: len(opening) // 2])
    _wait(client, ended)


def greeted(client: socket.socket, ended: threading.Event, opening: bytes) -> None:
    """Begins as the right server does, and then says no more, whatever it is asked."""
    client.sendall(opening)
    _wait(client, ended)


def ready(client: socket.socket, ended: threading.Event, opening: bytes) -> None:
    """Lets anybody in, and then says no more."""
    mysql = _is_mysql(opening)
    client.sendall(opening if mysql else b"")
    client.recv(1 << 16)
    ok = b"\x07\0\0\x02\0\0\0\x02\0\0\0"
    client.sendall(ok if mysql else opening + b"Z\0\0\0\x05I")
    _wait(client, ended)


def drip(client: socket.socket, ended: threading.Event, opening: bytes) -> None:
    """Begins rightly, a byte a second."""
    for byte in opening:
        client.sendall(bytes([byte]))
        if ended.wait(1):
            return


def huge(client: socket.socket, ended: threading.Event, opening: bytes) -> None:
    """Announces more than anybody could take."""
    client.sendall(b"R\x3f\xff\xff\x00" + b"\0" * 100)
    _wait(client, ended)


def tls(client: socket.socket, ended: threading.Event, opening: bytes) -> None:
    """Agrees to TLS, and answers its first message with bytes that are none of TLS."""
    agreed = _agree(client, opening)
    client.sendall(agreed + b"\x16\x03\x01\xff\xff" + b"\xaa" * 400)
    _wait(client, ended)


def tls_silent(client: socket.socket, ended: threading.Event, opening: bytes) -> None:
    """Agrees to TLS and says no more."""
    client.sendall(_agree(client, opening))
    _wait(client, ended)


KINDS: dict[str, Talk] = {
    talk.__name__: talk
    for talk in (
        silent,
        closing,
        junk,
        http,
        endless,
        half,
        greeted,
        ready,
        drip,
        huge,
        tls,
        tls_silent,
    )
}


def greeting(version: bytes = b"8.0.36") -> bytes:
    """The first packet of a MySQL server that offers TLS."""
    abilities = 0xFFFFFFFF & ~(1 << 5)
    body = (
        b"\x0a" + version + b"\0" + struct.pack("<I", 7) + b"12345678" + b"\0"
        + struct.pack("<H", abilities & 0xFFFF) + b"\x2d" + b"\x02\x00"
        + struct.pack("<H", abilities >> 16) + b"\x15" + b"\0" * 10
        + b"90abcdefghij\0" + b"mysql_native_password\0"
    )  # fmt: skip
    return struct.pack("<I", len(body))[:3] + b"\0" + body


def prelogin(encryption: int) -> bytes:
    """The first answer of a SQL Server, with its word on encryption."""
    # VERSION (6 bytes), ENCRYPTION (1 byte), end.
    body = struct.pack(">BHHBHHB", 0, 11, 6, 1, 17, 1, 0xFF) + bytes(6) + bytes([encryption])
    return struct.pack(">BBHHBB", 4, 1, 8 + len(body), 0, 1, 0) + body


OPENINGS = {
    "mssql": prelogin(3),
    "mysql": greeting(),
    "postgresql": b"R\0\0\0\x08\0\0\0\0" + b"S\0\0\0\x0dname\0val\0" * 20,
}
"""What a server says first, or when it has heard who calls."""


class Hostile:
    """A server of one of :data:`KINDS` at a port of this machine.

    Args:
        kind: What it does; or a function that does it.
        protocol: Whose opening words it knows, one of :data:`OPENINGS`.
    """

    def __init__(self, kind: str | Talk, protocol: str) -> None:
        self._opening = OPENINGS[protocol]
        self._talk = KINDS[kind] if isinstance(kind, str) else kind
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.accepted = 0
        self._ended = threading.Event()

    def __enter__(self) -> Hostile:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._ended.set()
        self._listener.close()

    def _accept(self) -> None:
        while not self._ended.is_set():
            try:
                client, _ = self._listener.accept()
            except OSError:  # it was closed
                return
            self.accepted += 1
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, contextlib.suppress(OSError):
            self._talk(client, self._ended, self._opening)


def _agree(client: socket.socket, opening: bytes) -> bytes:
    """Hears the request for TLS; returns the word that agrees to it."""
    mysql = _is_mysql(opening)
    if mysql:
        client.sendall(opening)
    client.recv(1 << 16)
    return b"" if mysql else b"S"


def _is_mysql(opening: bytes) -> bool:
    return opening is OPENINGS["mysql"]


def _wait(client: socket.socket, ended: threading.Event) -> None:
    """Until the client hangs up, or the server's end."""
    client.settimeout(0.05)
    while not ended.is_set():
        with contextlib.suppress(TimeoutError):
            if not client.recv(1 << 16):
                return
