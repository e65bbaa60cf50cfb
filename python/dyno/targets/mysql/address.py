"""The URL of a server: parsed, and converted for the Rust driver."""

from __future__ import annotations

import configparser
import getpass
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from pymysql.optionfile import Parser

from dyno.contracts.target import TargetUrl
from dyno.errors import UsageError, nearest
from dyno.targets.patience import CONNECT_S, LONGEST_S
from dyno.targets.reach import LOOPBACK, spelled_alike

PORT = 3306
_FILES = ("ssl_ca", "ssl_cert", "ssl_key", "server_public_key")
_PARAMETERS = (*("unix_socket", "ssl", *_FILES, "allow_public_key_retrieval", "connect_timeout"),)
_SWITCH = {"1": True, "true": True, "required": True, "0": False, "false": False}


@dataclass(frozen=True)
class Address:
    """How to reach a server.

    Attributes:
        unix_socket: Path of a socket; takes precedence over host and port.
        database: The initial database before a workload's own; may be empty.
        tls: Files of a TLS connection as PyMySQL names them; None without TLS.
        server_key: File of the public key that encrypts passwords without TLS; may be empty.
        key_retrieval: Whether any server may send that key itself.
        connect_timeout: Login timeout in seconds.
    """

    host: str
    port: int
    user: str
    password: str = field(default="", repr=False)
    unix_socket: str = ""
    database: str = ""
    tls: dict[str, Any] | None = None
    server_key: str = ""
    key_retrieval: bool = False
    connect_timeout: int = CONNECT_S

    @classmethod
    def parse(cls, url: TargetUrl) -> Address:
        """Parses ``mysql://user:password@host:port/database?unix_socket=/path``.

        A user or password missing in the URL comes from ``MYSQL_PWD`` or ``~/.my.cnf``.
        ``?ssl=1`` enables TLS, and ``?ssl_ca=FILE`` verifies the server's certificate and name;
        ``ssl_cert`` and ``ssl_key`` name the client's files. The Rust driver rejects a server
        certificate that is itself a CA (CA:TRUE), which PyMySQL accepts. Without TLS,
        ``server_public_key=FILE`` names the key that encrypts MySQL passwords; with
        ``allow_public_key_retrieval=1`` any server may send it. ``connect_timeout=SECONDS`` is the
        login timeout, by default 10.

        Raises:
            UsageError: If a parameter is unknown or has an invalid value.
        """
        parts = urlsplit(url.text)
        given = dict(parse_qsl(parts.query, keep_blank_values=True))
        for name in given:
            if name not in _PARAMETERS:
                raise UsageError(f"Unknown URL parameter '{name}'. {nearest(name, _PARAMETERS)}")
        for file in (given[name] for name in _FILES if given.get(name)):
            if not Path(file).is_file():
                raise UsageError(f"The URL names the file {file}, which does not exist.")
        own = _own_file()
        return cls(
            host=parts.hostname or "localhost",
            port=parts.port or PORT,
            user=unquote(parts.username or "") or own.get("user", "") or _login(),
            password=_password(parts.password, own),
            unix_socket=given.get("unix_socket", ""),
            database=unquote(parts.path.lstrip("/")),
            tls=_tls(given),
            server_key=given.get("server_public_key", ""),
            key_retrieval=_switch(given, "allow_public_key_retrieval", "0"),
            connect_timeout=_seconds(given),
        )

    @property
    def server(self) -> str:
        """For messages: ``MariaDB/MySQL at db1:3306``, never with a password."""
        place = self.unix_socket or f"{self.host}:{self.port}"
        return f"MariaDB/MySQL at {place}"

    @property
    def leads_to(self) -> tuple[str, ...]:
        """The server, in one spelling."""
        if self.unix_socket:
            return (str(Path(self.unix_socket).resolve()),)
        return spelled_alike(self.host), str(self.port)

    @property
    def is_local(self) -> bool:
        """Whether the server may be a process on this machine."""
        return bool(self.unix_socket) or self.host in LOOPBACK

    def driver(self) -> dict[str, Any]:
        """The arguments of PyMySQL's ``connect``."""
        return {
            "host": self.host,
            "port": self.port,
            "user": self.user,
            "password": self.password,
            "unix_socket": self.unix_socket or None,
            "ssl": self.tls,
            # Otherwise PyMySQL uses TLS whenever the server offers it.
            "ssl_disabled": self.tls is None,
        }

    def wire(self) -> dict[str, Any]:
        """Connection parameters for the Rust driver; may contain a password."""
        found: dict[str, Any] = {
            "kind": "mysql",
            "host": self.host,
            "port": self.port,
            "user": self.user,
        }
        if self.connect_timeout != CONNECT_S:
            found["connect_timeout_s"] = self.connect_timeout
        if self.unix_socket:
            found["unix_socket"] = self.unix_socket
        if self.tls is not None:
            found["tls"] = self.tls
        if self.server_key:
            found["server_key"] = self.server_key
        if self.key_retrieval:
            found["key_retrieval"] = True
        return {**found, "password": self.password} if self.password else found


def _tls(given: dict[str, str]) -> dict[str, Any] | None:
    if not _switch(given, "ssl", "1" if any(name.startswith("ssl_") for name in given) else "0"):
        return None
    # Without a CA the connection is encrypted, but the server is not authenticated.
    # The key "ca" is always present, because PyMySQL takes an empty dict for no TLS.
    files = {name: given[f"ssl_{name}"] for name in ("cert", "key") if given.get(f"ssl_{name}")}
    return {"ca": given.get("ssl_ca") or None, **files}


def _switch(given: dict[str, str], name: str, usual: str) -> bool:
    text = given.get(name, usual)
    if text not in _SWITCH:
        raise UsageError(f"The URL's {name}={text} is invalid: use 1 or 0.")
    return _SWITCH[text]


def _seconds(given: dict[str, str]) -> int:
    text = given.get("connect_timeout", str(CONNECT_S))
    if not (text.isascii() and text.isdigit() and 1 <= int(text[:5]) <= LONGEST_S):
        raise UsageError(
            f"The URL's connect_timeout must be a number of seconds from 1 to {LONGEST_S}."
        )
    return int(text)


def _password(given: str | None, own: dict[str, str]) -> str:
    if given is not None:
        return unquote(given)
    return os.environ.get("MYSQL_PWD") or own.get("password", "")


def _own_file() -> dict[str, str]:
    """User and password from the ``[client]`` section of ``~/.my.cnf``."""
    parser = Parser(strict=False)
    found: dict[str, str] = {}
    try:
        parser.read(Path("~/.my.cnf").expanduser(), encoding="utf-8")
        for name in ("user", "password"):
            if parser.has_option("client", name):
                found[name] = parser.get("client", name)
    except (configparser.Error, OSError, UnicodeDecodeError):
        return {}  # the file is for other clients
    return found


def _login() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "root"
