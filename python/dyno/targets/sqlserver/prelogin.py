"""Asks a server what it says about encryption, to explain a login that failed.

The driver library reports only that the connection failed. The first packets of a session (PRELOGIN
in Microsoft's MS-TDS) show whether the server speaks the protocol and whether it encrypts.
"""

from __future__ import annotations

import socket
import struct
from contextlib import closing

NOT_SUPPORTED = 2
REQUIRED = (1, 3)
"""Values of the option ENCRYPTION in an answer; 0 leaves the choice to the client."""

_ANSWER = 4
_HEADER = struct.Struct(">BBHHBB")
_OPTION = struct.Struct(">BHH")
_ENCRYPTION, _END = 1, 0xFF
# VERSION (6 bytes, unknown), ENCRYPTION (off, but possible), end.
_BODY = _OPTION.pack(0, 11, 6) + _OPTION.pack(_ENCRYPTION, 17, 1) + b"\xff" + bytes(6) + b"\0"


def encryption(host: str, port: int, seconds: float) -> int | None:
    """The server's word on encryption; None if it does not speak the protocol.

    Args:
        host: The server.
        port: Its port.
        seconds: Timeout of each step.
    """
    try:
        with closing(socket.create_connection((host, port), timeout=seconds)) as connection:
            connection.settimeout(seconds)
            size = _HEADER.size + len(_BODY)
            connection.sendall(_HEADER.pack(0x12, 1, size, 0, 1, 0) + _BODY)
            kind, _, length, *_ = _HEADER.unpack(_exactly(connection, _HEADER.size))
            if kind != _ANSWER or not _HEADER.size < length <= 4096:
                return None
            return _read(_exactly(connection, length - _HEADER.size))
    except (OSError, ValueError, struct.error, IndexError):
        return None


def _read(body: bytes) -> int | None:
    place = 0
    while body[place] != _END:
        token, start, _ = _OPTION.unpack_from(body, place)
        if token == _ENCRYPTION:
            return body[start]
        place += _OPTION.size
    return None


def _exactly(connection: socket.socket, count: int) -> bytes:
    found = b""
    while len(found) < count:
        piece = connection.recv(count - len(found))
        if not piece:
            raise ValueError("the answer ends early")
        found += piece
    return found
