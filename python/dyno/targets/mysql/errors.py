"""Server errors, mapped to the classes of a bundle (as in the Rust loader).

Source of the numbers: MariaDB manual, "MariaDB Error Codes"; MySQL manual, "Server Error Message
Reference" and "Client Error Message Reference" (2000 and up).
"""

from __future__ import annotations

import re
from collections.abc import Callable

import pymysql

from dyno.errors import DynoError, error_of_kind
from dyno.targets.reach import no_answer

_CLASSES: dict[str, tuple[int, ...]] = {
    "too_many_connections": (1040, 1203, 1226),
    "denied": (1044, 1045, 1129, 1130, 1142, 1143, 1227, 1370, 1698, 3159, 1148, 3948, 4166),
    "disk_full": (1021, 1114),
    "out_of_memory": (5, 1037, 1038, 1041),
    "lock_timeout": (1205, 3572),
    "timeout": (1317, 1969, 3024),
    "deadlock": (1213,),
    "serialization": (1020,),
    "connection_lost": (
        *(1053, 1080, 1152, 1158, 1159, 1160, 1161, 1184, 1927),
        *(2006, 2013, 2014, 2055),
    ),
    "unreachable": (1049, 2002, 2003, 2005),
}
_KINDS = {number: kind for kind, numbers in _CLASSES.items() for number in numbers}

_ADVICE = {
    "disk_full": "; free space on the server's volumes, including tmpdir",
    "out_of_memory": "; give the server more memory",
    "too_many_connections": "; raise max_connections on the server or use fewer sessions",
}

PRIVILEGES = "SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, ALTER, INDEX"
"""Privileges that Dyno's user needs on a workload's database."""
ROUTINES = ", CREATE ROUTINE, ALTER ROUTINE, EXECUTE"
"""Additional privileges for procedures."""


def kind_of(number: int, text: str) -> str:
    """The class of an error number; the text contains operating system errors."""
    if "No space left" in text or "error 28 " in text:
        return "disk_full"
    return _KINDS.get(number, "database")


def statement_error(
    error: pymysql.Error, account: Callable[[], str] = lambda: "", needs: str = ""
) -> DynoError:
    """The error for a failed statement.

    Args:
        error: The driver's exception.
        account: Returns the account in SQL that needs a privilege. If empty, the account in the
            error is used; in MySQL that has the client's host instead of the account's.
        needs: Additional privileges, for errors that do not name the missing ones.
    """
    number, text = parts(error)
    kind = kind_of(number, text)
    if isinstance(error, pymysql.InterfaceError) and number == 0:
        kind, text = "connection_lost", "the session is closed"  # PyMySQL reports it without text
    advice = _ADVICE.get(kind, "")
    if kind == "denied":
        advice = _grant(text, account(), needs)
    label = f" [error {number}]" if number else ""
    return error_of_kind(kind, f"{_sentence(text)}{advice}{label}.")


def connect_error(
    error: Exception, server: str, host: str = "", *, plain: bool = False
) -> DynoError:
    """The error for a failed connection, with advice.

    Args:
        error: The driver's exception.
        server: The server, such as ``MariaDB/MySQL at db1:3306``, without a password.
        host: Its host; empty for a socket.
        plain: Whether the connection was over the network without TLS.
    """
    if not isinstance(error, pymysql.Error):
        # PyMySQL needs another package to encrypt a password, and reports if it is missing.
        missing = _PLAIN.format(server=server) if "cryptography" in str(error) else None
        return error_of_kind("unreachable", missing or f"Cannot connect to {server}: {error}")
    number, text = parts(error)
    known = _CONNECT.get(number)
    if known is not None:
        message = known.format(server=server, reason=_sentence(text), grant=_grant(text))
        if plain and number in _LOGIN:  # the server does not name the cause
            message += _OVER_TLS
        return error_of_kind(kind_of(number, text), f"{message}.")
    silent = no_answer(server, host, "host, port or unix_socket", "bind-address, skip-networking")
    for words, message in _UNREACHABLE.items():
        if words in text:
            filled = message.format(server=server, silent=silent)
            return error_of_kind("unreachable", f"{filled}.")
    return error_of_kind("unreachable", f"Cannot connect to {server}: {text or repr(error)}.")


def parts(error: pymysql.Error) -> tuple[int, str]:
    """Number and text of an error; number 0 if the driver has none."""
    match error.args:
        case (int(number), text, *_):
            return number, _line(str(text))
        case (text,):
            return 0, _line(str(text))
        case _:
            return 0, ""


def grant(database: str, account: str, more: str = "") -> str:
    """The statement that grants ``account`` Dyno's privileges on a database, and ``more``."""
    # An underscore in the name is a wildcard.
    name = database.replace("`", "``").replace("_", r"\_").replace("%", r"\%")
    return f"GRANT {PRIVILEGES}{more} ON `{name}`.* TO {account}"


_PASSWORD = "set the right ones in the URL, in MYSQL_PWD or in ~/.my.cnf"  # noqa: S105
_REFUSED = f"{{server}} rejected the user or password; {_PASSWORD}. {{reason}}"
_LOGIN = (1045, 1698)
_OVER_TLS = "; if this user may log in over TLS only, add ?ssl=1 to the URL"
_FULL = "{server} has no free connection"

_CONNECT = {
    1040: _FULL,
    1203: _FULL,
    1226: "{reason}",
    1044: "{reason}{grant}",
    1142: "{reason}{grant}",
    1045: _REFUSED,
    1698: _REFUSED,
    1129: "{server} does not accept this client: {reason}",
    1130: "{server} does not accept this client: {reason}",
    3159: "{server} requires TLS; add ?ssl=1 to the URL",
}
_PLAIN = (
    "{server} requires an encrypted password (caching_sha2_password): add ?ssl=1 "
    "to the URL, or `pip install cryptography` to connect without TLS."
)
_UNKNOWN = "The host name of {server} cannot be resolved; correct the URL or this machine's DNS"
_UNREACHABLE = {
    "timed out": "{silent}",
    "Name or service not known": _UNKNOWN,
    "name resolution": _UNKNOWN,
    "Connection refused": "{silent}",
    "No such file": "{silent}",
}
_DATABASE = re.compile(r"user ('.*?'@'.*?') to database '(.*?)'")
_TABLE = re.compile(r"denied to user ('.*?'@'.*?') for (?:table|column .*? in table) `?'?(\w+)`?\.")
_ROUTINE = re.compile(r"denied to user ('.*?'@'.*?') for routine '(\w+)\.")
_GLOBAL = re.compile(r"the (.+?) privilege\(?s?\)? for this operation")


def _grant(text: str, account: str = "", needs: str = "") -> str:
    for pattern in (_DATABASE, _TABLE, _ROUTINE):
        if found := pattern.search(text):
            more = ", REFERENCES" if text.startswith("REFERENCES ") else ""  # for foreign keys
            if pattern is _ROUTINE:
                more = ROUTINES
            statement = grant(found[2], account or found[1], needs or more)
            return f"; an administrator must run: {statement}"
    if found := _GLOBAL.search(text):
        return f"; an administrator must run: GRANT {found[1]} ON *.* TO {account or 'this user'}"
    if "local infile" in text.lower() or "command is not allowed" in text:
        return "; allow it on the server: SET GLOBAL local_infile = 1"
    return ""


def _line(text: str) -> str:
    return " ".join(text.split()).rstrip(".")


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] if text else "Unknown error"
