"""The server's public key, which encrypts a password on an insecure connection.

MySQL's ``caching_sha2_password`` sends the password itself, encrypted with the server's public key.
PyMySQL would request the key from any server, so a man in the middle could send his own and read
the password. The Rust driver has the same rule (``wire/mysql/login.rs``).
"""

from __future__ import annotations

import ipaddress
from pathlib import Path
from typing import Any, cast

from dyno.errors import TargetError
from dyno.targets.mysql.handshake import LimitedConnection

LONGEST = 8 << 10
"""Maximum bytes of a PEM key; one with 16384 bits has less than 3,000."""

_UNTRUSTED = (
    "The server requires the plain password (caching_sha2_password), which is "
    "readable on plain TCP: add ?ssl_ca=FILE or ?ssl=1 to the URL, or pass the "
    "server's public_key.pem with ?server_public_key=FILE. On a trusted network, "
    "?allow_public_key_retrieval=1 requests the key from the server."
)


class KeyedConnection(LimitedConnection):
    """A driver connection that requests the server's key only on a safe connection.

    Safe means on this machine, or explicitly allowed. TLS and unix sockets need no key.
    """

    def __init__(self, *, server_key: str, key_retrieval: bool, **driver: Any) -> None:
        """Connects.

        Args:
            server_key: File of the server's key in PEM; may be empty.
            key_retrieval: Whether any server may send the key.
            driver: Other arguments of the base class.

        Raises:
            TargetError: With kind ``denied``, if the server requires the plain password.
        """
        self._key: bytes | None = None
        self._key_retrieval = key_retrieval
        key = Path(server_key).read_bytes() if server_key else None
        super().__init__(server_public_key=key, **driver)

    # PyMySQL reads the key from here and stores a received one here.
    @property
    def server_public_key(self) -> bytes | None:
        """The key; PyMySQL requests it from the server if it is None."""
        if self._key is None:
            self._require_trust()
        return self._key

    @server_public_key.setter
    def server_public_key(self, key: bytes | None) -> None:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Accepts the key of the URL, and a server's key only if allowed."""
        if self._stream() is None:
            self._key = key
        elif self._key is None and key is not None:
            self._require_trust()
            if len(key) > LONGEST:
                message = "The server's public key is too long."
                raise TargetError(message, kind="protocol")
            self._key = key

    def _require_trust(self) -> None:
        peer = self._stream().getpeername()[0]
        if not (self._key_retrieval or is_loopback(str(peer))):
            raise TargetError(_UNTRUSTED, kind="denied")

    def _stream(self) -> Any:
        """PyMySQL's socket, missing in its type stubs; None before it connects."""
        return cast("Any", self)._sock


def is_loopback(address: str) -> bool:
    """Whether a socket address is on this machine, or forwarded from it."""
    found = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(found, ipaddress.IPv6Address) and found.ipv4_mapped is not None:
        found = found.ipv4_mapped
    return found.is_loopback
