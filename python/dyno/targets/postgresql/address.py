"""A server that exists already: its URL taken apart, checked, and told to the Rust driver."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import psycopg
from psycopg.conninfo import conninfo_to_dict, timeout_from_conninfo

from dyno.errors import TargetError, UsageError, unknown
from dyno.targets.base import TargetUrl
from dyno.targets.patience import LONGEST_S
from dyno.targets.postgresql import tls
from dyno.targets.postgresql.connection import PostgresConnection

OLDEST = 140000
"""The first version that is supported, as ``server_version_num`` counts."""


@dataclass(frozen=True)
class Address:
    """Where a server is.

    Attributes:
        conninfo: As libpq takes it; may hold a password.
        server: For messages: ``PostgreSQL at db1:5432``, never with a password.
    """

    conninfo: dict[str, Any]
    server: str

    @classmethod
    def parse(cls, url: TargetUrl) -> Address:
        """Reads a ``postgresql://`` URL with libpq's own rules.

        A unix socket is named by its folder: ``postgresql:///bench?host=/run/postgresql``. Over TCP
        ``?sslmode=verify-full&sslrootcert=FILE`` encrypts and proves the server.

        Raises:
            UsageError: If libpq does not understand it.
        """
        try:
            conninfo = {name: value for name, value in conninfo_to_dict(url.text).items() if value}
        except psycopg.Error as error:
            text = " ".join(str(error).split()).replace(url.text, url.redacted)
            for secret in _secrets(url.text):
                text = text.replace(secret, "***")
            raise UsageError(f"The target URL cannot be read: {text}.") from None
        if (mode := conninfo.get("sslmode")) and mode not in tls.MODES:
            raise unknown("sslmode", str(mode), tls.MODES)
        host = str(conninfo.get("host") or conninfo.get("hostaddr") or "the local socket")
        server = f"{host}:{conninfo.get('port') or 5432}"
        return cls(conninfo, f"PostgreSQL at {server}")


def is_local(address: str) -> bool:
    """Whether a session goes to this machine: ``address`` is that of its peer, "" for a socket.

    From the session and not from the URL: libpq also takes a host from the query, the environment
    or a service file.
    """
    try:
        return not address or ip_address(address).is_loopback
    except ValueError:
        return False


def require_version(session: PostgresConnection, server: str) -> None:
    """Refuses a server that is older than PostgreSQL 14.

    Raises:
        TargetError: If it is.
    """
    version = session.raw.info.server_version
    if version < OLDEST:
        raise TargetError(
            f"{server} is version {version // 10000}; Dyno needs {OLDEST // 10000} or newer."
        )


def wire(session: PostgresConnection, address: Address) -> dict[str, Any]:
    """The server as the Rust driver reaches it.

    Taken from an open session, so that libpq's defaults, service and password files count.
    """
    info = session.raw.info
    found: dict[str, Any] = {
        "kind": "postgres",
        "host": info.host,
        "port": info.port,
        "user": info.user,
        "database": info.dbname,
    }
    if address.conninfo.get("hostaddr"):
        found["hostaddr"] = info.hostaddr
    if address.conninfo.get("connect_timeout"):
        found["connect_timeout_s"] = min(timeout_from_conninfo(address.conninfo), LONGEST_S)
    if info.password:
        found["password"] = info.password
    return {**found, **tls.wire(session)}


def _secrets(text: str) -> list[str]:
    """Passwords in a URL, in the authority or the query; as far as it can be read at all."""
    try:
        parts = urlsplit(text)
    except ValueError:
        return [text]
    given = parse_qsl(parts.query)
    found = [parts.password or "", *(value for name, value in given if name.endswith("password"))]
    return [form for secret in found if secret for form in (secret, unquote(secret))]
