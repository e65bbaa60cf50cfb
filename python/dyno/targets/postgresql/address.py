"""An existing server: its URL parsed, checked, and converted for the Rust driver."""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict, timeout_from_conninfo

from dyno.contracts.target import TargetUrl
from dyno.errors import TargetError, UsageError, unknown
from dyno.targets.patience import LONGEST_S
from dyno.targets.postgresql import tls
from dyno.targets.postgresql.connection import PostgresConnection
from dyno.targets.reach import spelled_alike

OLDEST = 140000
"""The oldest supported version, as ``server_version_num``."""


@dataclass(frozen=True)
class Address:
    """The address of a server.

    Attributes:
        conninfo: The libpq connection string; may contain a password.
        server: For messages: ``PostgreSQL at db1:5432``, never with a password.
    """

    conninfo: dict[str, Any]
    server: str

    @classmethod
    def parse(cls, url: TargetUrl) -> Address:
        """Parses a ``postgresql://`` URL with libpq's rules.

        A unix socket is named by its folder: ``postgresql:///bench?host=/run/postgresql``. Over
        TCP,
        ``?sslmode=verify-full&sslrootcert=FILE`` encrypts and authenticates the server.

        Raises:
            UsageError: If libpq rejects it.
        """
        try:
            conninfo = {name: value for name, value in conninfo_to_dict(url.text).items() if value}
        except psycopg.Error as error:
            # The rest of libpq's message would show parts of the URL, maybe of a password.
            named = re.search(r'invalid URI query parameter: "(\w+)"', str(error))
            if named and "pass" not in url.text.partition("?")[2].lower():
                known = [option.keyword.decode() for option in psycopg.pq.Conninfo.get_defaults()]
                raise unknown("URL parameter", named[1], known) from None
            raise UsageError(
                "The target URL is invalid; write it like "
                "postgresql://user:password@host:5432/database?sslmode=require. Percent-encode "
                "special characters in user and password: %25 for %, %2F for /, %40 for @."
            ) from None
        if (mode := conninfo.get("sslmode")) and mode not in tls.MODES:
            raise unknown("sslmode", str(mode), tls.MODES)
        host = str(conninfo.get("host") or conninfo.get("hostaddr") or "the local socket")
        server = f"{host}:{conninfo.get('port') or 5432}"
        return cls(conninfo, f"PostgreSQL at {server}")

    @property
    def leads_to(self) -> tuple[str, ...]:
        """Server and database, in one spelling. What the URL leaves open is libpq's default."""
        usual = {
            option.keyword.decode(): option.val.decode()
            for option in psycopg.pq.Conninfo.get_defaults()
            if option.val
        }
        found = {**usual, **self.conninfo}
        host = str(found.get("hostaddr") or found.get("host") or "")
        place = str(Path(host).resolve()) if host.startswith("/") else spelled_alike(host)
        # A service or a choice among hosts may lead elsewhere.
        chosen = [str(found.get("service", ""))]
        chosen += [str(found.get("target_session_attrs"))] if "," in host else []
        return place, str(found.get("port")), str(found.get("dbname") or found.get("user")), *chosen


def is_local(address: str) -> bool:
    """Whether a session is local: ``address`` is that of its peer, "" for a socket.

    It comes from the session and not from the URL, because libpq also takes a host from the query,
    the environment or a service file.
    """
    try:
        return not address or ip_address(address).is_loopback
    except ValueError:
        return False


def require_version(session: PostgresConnection, server: str) -> None:
    """Rejects a server that is older than PostgreSQL 14.

    Raises:
        TargetError: If it is.
    """
    version = session.raw.info.server_version
    if version < OLDEST:
        raise TargetError(
            f"{server} is version {version // 10000}; Dyno needs {OLDEST // 10000} or newer."
        )


def wire(session: PostgresConnection, address: Address) -> dict[str, Any]:
    """Connection parameters for the Rust driver.

    They come from an open session, so they include libpq's defaults, service and password files.
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
