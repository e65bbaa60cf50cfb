"""TLS parameters of libpq, converted for the Rust driver."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

from dyno.targets.postgresql.connection import PostgresConnection

MODES = ("disable", "allow", "prefer", "require", "verify-ca", "verify-full")
"""Values of libpq's ``sslmode``."""

_SYSTEM = "system"
_HOME = ".postgresql"

_TAKEN: dict[str, tuple[str, ...]] = {
    "gssencmode": ("", "disable", "prefer"),
    "require_auth": ("",),
    "requirepeer": ("",),
}
_TAKEN_OVER_TLS: dict[str, tuple[str, ...]] = {
    "sslcrl": ("",),
    "sslcrldir": ("",),
    "sslpassword": ("",),
    "sslsni": ("", "1"),
    "sslcertmode": ("", "allow", "disable"),
    "sslnegotiation": ("", "postgres"),
    "ssl_max_protocol_version": ("", "TLSv1.2", "TLSv1.3"),
}
"""Options of libpq, and the values that the driver supports."""

_ADVICE = {"sslpassword": "; use a key without a passphrase (openssl pkey -in KEY -out PLAIN)"}


def obstacle(session: PostgresConnection) -> str | None:
    """Why the Rust driver cannot connect to a server that libpq reached; None if it can.

    The driver never omits a check that the URL or the environment requires.
    """
    given = _options(session)
    taken = {**_TAKEN, **(_TAKEN_OVER_TLS if session.raw.pgconn.ssl_in_use else {})}
    for name, values in taken.items():
        if given.get(name, "") not in values:
            advice = _ADVICE.get(name, "; remove it from the URL and the environment")
            return f"The driver and the loader do not support the option {name}{advice}."
    return None


def wire(session: PostgresConnection) -> dict[str, Any]:
    """TLS parameters for the Rust driver; empty if libpq uses no TLS.

    libpq has resolved an ambiguous ``sslmode`` for this session. The driver does the same or is
    rejected, so that all sessions of a run are alike. Files are located by libpq's rules
    (PostgreSQL
    manual, "SSL Support").
    """
    if not session.raw.pgconn.ssl_in_use:
        return {}
    given = _options(session)
    tls: dict[str, Any] = {"check_host": given.get("sslmode") == "verify-full"}
    authorities = _file(given, "sslrootcert", "root.crt")
    if str(authorities) == _SYSTEM or _is_there(authorities):
        tls["ca"] = str(authorities)
    own = _file(given, "sslcert", "postgresql.crt")
    if given.get("sslcertmode") != "disable" and _is_there(own):
        tls["cert"] = str(own)
        tls["key"] = str(_file(given, "sslkey", "postgresql.key"))
    if given.get("ssl_min_protocol_version") == "TLSv1.3":
        tls["oldest"] = "TLSv1.3"
    if newest := given.get("ssl_max_protocol_version"):
        tls["newest"] = newest
    found: dict[str, Any] = {"tls": tls}
    if binding := given.get("channel_binding"):
        found["channel_binding"] = binding
    return found


def _options(session: PostgresConnection) -> dict[str, str]:
    """All libpq options, including defaults, environment and service files."""
    options = session.raw.pgconn.info
    return {option.keyword.decode(): (option.val or b"").decode() for option in options}


def _file(given: dict[str, str], name: str, usual: str) -> Path:
    if path := given.get(name):
        return Path(path)
    with contextlib.suppress(RuntimeError):  # a user without a home directory
        return Path.home() / _HOME / usual
    return Path("/nowhere", _HOME, usual)


def _is_there(file: Path) -> bool:
    try:
        file.stat()
    except OSError:
        return False
    return True
