"""Opens a connection of the driver library, with the URL's encryption and a login timeout.

FreeTDS takes the certificates to verify from its configuration file only, and finds that file by an
environment variable. So each login has a file of its own, and logins take turns. The user's own
``freetds.conf`` has no effect on Dyno. FreeTDS limits each read of a login, not the whole: a login
runs in a thread that is left behind after the timeout.
"""

from __future__ import annotations

import os
import ssl
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pymssql

from dyno.errors import DynoError, TargetError
from dyno.targets.sqlserver.address import Address
from dyno.targets.sqlserver.errors import connect_error
from dyno.targets.sqlserver.prelogin import encryption

PROGRAM = "dyno"
"""The application name of Dyno's sessions."""
OBSERVER = "dyno observer"
"""That of sessions that only observe."""

_VARIABLE = "FREETDSCONF"
_BUNDLES = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
)
_TURN = threading.Lock()
_GRACE_S = 1
"""FreeTDS reports its own timeout better, so it gets the time to do so."""


def connect(address: Address, database: str = "", program: str = PROGRAM) -> Any:
    """Logs in, in autocommit.

    Args:
        address: The server.
        database: The database of the session; that of the address if empty.
        program: Its application name.

    Raises:
        TargetError: One line with advice.
    """
    try:
        with _TURN, tempfile.TemporaryDirectory(prefix="dyno-tds-") as folder:
            file = Path(folder) / "freetds.conf"
            file.write_text(_configuration(address), encoding="utf-8")
            before = os.environ.get(_VARIABLE)
            os.environ[_VARIABLE] = str(file)
            try:
                return _within(
                    address.connect_timeout + _GRACE_S,
                    lambda: _connect(address, database or address.database, program),
                    address.server,
                )
            finally:
                if before is None:
                    del os.environ[_VARIABLE]
                else:
                    os.environ[_VARIABLE] = before
    except DynoError:
        raise
    except (pymssql.Error, OSError, ValueError) as error:
        raise connect_error(
            error,
            address,
            database or address.database,
            lambda: encryption(address.host, address.port, address.connect_timeout),
        ) from error


def _within(seconds: float, login: Callable[[], Any], server: str) -> Any:
    """The connection, if the login takes no longer.

    Raises:
        TargetError: If it does. The connection is closed if it still comes.
    """
    done = threading.Event()
    found: list[Any] = []
    failed: list[Exception] = []
    given_up = threading.Event()

    def run() -> None:
        try:
            found.append(login())
        except Exception as error:
            failed.append(error)
        done.set()
        if given_up.is_set() and found:
            found[0].close()

    threading.Thread(target=run, daemon=True, name="dyno-login").start()
    if not done.wait(seconds):
        given_up.set()
        raise TargetError(
            f"{server} accepted the connection but did not respond within {seconds:.0f} s. Is it "
            "SQL Server?"
        )
    if failed:
        raise failed[0]
    return found[0]


def _connect(address: Address, database: str, program: str) -> Any:
    return pymssql.connect(
        server=address.host,
        port=str(address.port),
        user=address.user,
        password=address.password,
        database=database,
        login_timeout=address.connect_timeout,
        appname=program,
        encryption="require" if address.encrypt else "off",
        tds_version="7.4",
        charset="UTF-8",
        autocommit=True,
        use_datetime2=True,
        conn_properties="",
    )


def _configuration(address: Address) -> str:
    lines = ["[global]"]
    if address.encrypt and not address.trust:
        lines.append(f"ca file = {address.ca or _system_certificates()}")
        lines.append("check certificate hostname = yes")
    return "\n".join(lines) + "\n"


def _system_certificates() -> str:
    """The file of the system's certificate authorities.

    Raises:
        TargetError: If there is none.
    """
    own = ssl.get_default_verify_paths()
    for name in (own.cafile, *_BUNDLES):
        if name and Path(name).is_file():
            return name
    raise TargetError(
        "This machine has no file of certificate authorities to verify the server's certificate "
        "with: install ca-certificates, or name one in the URL with ca=FILE."
    )
