"""A server that exists already: its URL taken apart, checked, and told to the Rust driver."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from dyno.errors import TargetError, UsageError
from dyno.targets.base import TargetUrl
from dyno.targets.postgresql.connection import PostgresConnection

OLDEST = 140000
"""The first version that is supported, as ``server_version_num`` counts."""

_TLS_DEMANDED = {"require", "verify-ca", "verify-full"}


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

        A unix socket is named by its folder: ``postgresql:///bench?host=/run/postgresql``.

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


def tls_obstacle(session: PostgresConnection, address: Address) -> str | None:
    """Why the Rust driver, which speaks no TLS yet, cannot reach the server; None if it can.

    It never goes without TLS where the URL or the environment demands it.
    """
    if not session.raw.pgconn.ssl_in_use:
        return None
    # From libpq itself: it counts the environment and service files too.
    options = {option.keyword: option.val for option in session.raw.pgconn.info}
    if (options.get(b"sslmode") or b"").decode() in _TLS_DEMANDED:
        return "The URL demands TLS, which the driver and the loader do not speak yet."
    try:
        plain = psycopg.connect(make_conninfo("", **{**address.conninfo, "sslmode": "disable"}))
    except psycopg.Error:
        return f"{address.server} demands TLS, which the driver and the loader do not speak yet."
    plain.close()
    return None


def wire(session: PostgresConnection) -> dict[str, Any]:
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
    return {**found, "password": info.password} if info.password else found


def _secrets(text: str) -> list[str]:
    """Passwords in a URL, in the authority or the query; as far as it can be read at all."""
    try:
        parts = urlsplit(text)
    except ValueError:
        return [text]
    given = parse_qsl(parts.query)
    found = [parts.password or "", *(value for name, value in given if name.endswith("password"))]
    return [form for secret in found if secret for form in (secret, unquote(secret))]
