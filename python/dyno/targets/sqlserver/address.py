"""The URL of a server: parsed, and converted for the Rust driver."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from dyno.contracts.target import TargetUrl
from dyno.errors import UsageError, nearest
from dyno.targets.patience import CONNECT_S, LONGEST_S
from dyno.targets.reach import is_here, spelled_alike

PORT = 1433
PASSWORD = "MSSQL_PASSWORD"  # noqa: S105  (the variable's name)
_PARAMETERS = ("encrypt", "trust", "ca", "connect_timeout")
_ON = ("on", "yes", "true", "1", "mandatory")
_OFF = ("off", "no", "false", "0", "optional")

_LOGINS = ("authentication", "trusted_connection", "integratedsecurity", "integrated_security")
_LOGIN_ONLY = (
    "Dyno connects with SQL Server logins only, not with Windows or Entra logins: write "
    "mssql://user:password@host:port/database with a SQL Server login"
)
_NO_INSTANCE = (
    "The URL names the instance '{instance}'; give its port instead, as in "
    "mssql://user@{host}:1433/database (SQL Server Configuration Manager shows the port)."
)


@dataclass(frozen=True)
class Address:
    """How to reach a server.

    Attributes:
        database: The session's first database; that of the login if empty.
        encrypt: Whether the session is encrypted.
        trust: Whether an encrypted session accepts any certificate.
        ca: File of the certificates that sign the server's; the system's if empty.
        connect_timeout: Login timeout in seconds.
    """

    host: str
    port: int
    user: str
    password: str = field(default="", repr=False)
    database: str = ""
    encrypt: bool = True
    trust: bool = False
    ca: str = ""
    connect_timeout: int = CONNECT_S

    @classmethod
    def parse(cls, url: TargetUrl) -> Address:
        """Parses ``mssql://user:password@host:port/database?encrypt=on&trust=no``.

        A password missing in the URL comes from ``MSSQL_PASSWORD``. By default the session is
        encrypted, and the system's certificate authorities, or those in ``ca=FILE``, must have
        signed the server's certificate for the host of the URL. ``trust=yes`` accepts any
        certificate; ``encrypt=off`` sends everything as plain text, the password too.
        ``connect_timeout=SECONDS`` is the login timeout, by default 10.

        Raises:
            UsageError: If a parameter is unknown or has an invalid value, or the URL asks for an
                instance or a login that Dyno does not support.
        """
        parts = urlsplit(url.text)
        given = {name.lower(): text for name, text in parse_qsl(parts.query, True)}
        for name, value in given.items():
            if name in _LOGINS:
                raise UsageError(f"{_LOGIN_ONLY}.")
            if name == "instance":
                host = parts.hostname or "host"
                raise UsageError(_NO_INSTANCE.format(instance=value, host=host))
            if name not in _PARAMETERS:
                raise UsageError(f"Unknown URL parameter '{name}'. {nearest(name, _PARAMETERS)}")
        host, backslash, instance = unquote(parts.hostname or "localhost").partition("\\")
        if backslash:
            raise UsageError(_NO_INSTANCE.format(instance=instance, host=host))
        user = unquote(parts.username or "")
        if "\\" in user:
            raise UsageError(f"{_LOGIN_ONLY}, not '{user}'.")
        if not user:
            raise UsageError(f"The URL names no user: write mssql://USER@{host}/…. {_LOGIN_ONLY}.")
        return cls(
            host=host,
            port=parts.port or PORT,
            user=user,
            password=_password(parts.password),
            database=unquote(parts.path.removeprefix("/")),
            connect_timeout=_seconds(given),
            **_encryption(given),
        )

    @property
    def server(self) -> str:
        """For messages: ``SQL Server at db1:1433``, never with a password."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"SQL Server at {host}:{self.port}"

    @property
    def leads_to(self) -> tuple[str, ...]:
        """The server, in one spelling."""
        return spelled_alike(self.host), str(self.port)

    @property
    def is_local(self) -> bool:
        """Whether the server may be a process on this machine."""
        return is_here(self.host)

    def wire(self) -> dict[str, Any]:
        """Connection parameters for the Rust driver; may contain a password."""
        found: dict[str, Any] = {
            "kind": "mssql",
            "host": self.host,
            "port": self.port,
            "user": self.user,
            "database": self.database,
        }
        if self.encrypt:
            found["tls"] = {"ca": self.ca or None, "trust": self.trust}
        if self.connect_timeout != CONNECT_S:
            found["connect_timeout_s"] = self.connect_timeout
        return {**found, "password": self.password} if self.password else found


def _encryption(given: dict[str, str]) -> dict[str, Any]:
    """The fields of an address about encryption."""
    if given.get("encrypt", "").lower() == "strict":
        raise UsageError(
            "Dyno does not support encrypt=strict (TDS 8); encrypt=on also encrypts the session."
        )
    encrypt, trust, ca = _switch(given, "encrypt", "on"), given.get("trust"), given.get("ca", "")
    if not encrypt and (trust or ca):
        raise UsageError("The URL has encrypt=off, so trust and ca have no effect; omit them.")
    if ca and not Path(ca).is_file():
        raise UsageError(f"The URL names the file {ca}, which does not exist.")
    trusted = _switch(given, "trust", "no")
    if trusted and ca:
        raise UsageError("The URL has trust=yes, which accepts any certificate; omit it or ca.")
    return {"encrypt": encrypt, "trust": trusted, "ca": ca}


def _switch(given: dict[str, str], name: str, usual: str) -> bool:
    text = given.get(name, usual).lower()
    if text not in (*_ON, *_OFF):
        raise UsageError(f"The URL's {name}={text} is invalid: use on or off.")
    return text in _ON


def _seconds(given: dict[str, str]) -> int:
    text = given.get("connect_timeout", str(CONNECT_S))
    if not (text.isascii() and text.isdigit() and 1 <= int(text[:5]) <= LONGEST_S):
        raise UsageError(
            f"The URL's connect_timeout must be a number of seconds from 1 to {LONGEST_S}."
        )
    return int(text)


def _password(given: str | None) -> str:
    return unquote(given) if given is not None else os.environ.get(PASSWORD, "")
