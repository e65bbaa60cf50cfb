"""Server errors, mapped to the classes of a bundle (as in the Rust driver).

Source of the numbers: SQL Server documentation, "Database engine events and errors"; FreeTDS,
``sybdb.h`` (20000 to 20999, the library's own).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from dyno.errors import DynoError, error_of_kind
from dyno.targets.reach import no_answer
from dyno.targets.sqlserver.address import PASSWORD, Address
from dyno.targets.sqlserver.prelogin import NOT_SUPPORTED, REQUIRED

_CLASSES: dict[str, tuple[int, ...]] = {
    "deadlock": (1205,),
    "lock_timeout": (1222,),
    "serialization": (601, 3960, 41301, 41302, 41305, 41325, 41839),
    "denied": (
        *(229, 230, 262, 297, 300, 378, 916, 1088, 2571, 2760, 3110, 4834, 5011, 5812),
        *(6004, 7983, 15151, 15247),
        *(18452, 18456, 18470, 18486, 18487, 18488, 40615),
    ),
    "disk_full": (1101, 1105, 3257, 5149, 9002),
    "out_of_memory": (701, 802, 1204, 8645, 8651, 41805),
    "too_many_connections": (10928, 10929, 17809, 17810),
    "timeout": (3617, 20003),
    "connection_lost": (
        *(596, 3989, 6005, 17142, 17143, 17147, 40197, 40501, 40613),
        *(20004, 20006, 20017, 20020, 20047),
    ),
    "unreachable": (911, 4060, 4064, 20002, 20009, 20012, 20013),
}
_KINDS = {number: kind for kind, numbers in _CLASSES.items() for number in numbers}


class Message(NamedTuple):
    """A message of the server; the library does not pass on its number."""

    severity: int
    text: str


_SECURITY = 14
"""The severity of a missing right, and of a duplicate key."""
_DENIED = re.compile(r"permission (?:was )?denied|not have permission")

BABELFISH = 33557097
"""The number of most of Babelfish's errors: their text is PostgreSQL's."""
_TEXTS = {
    "deadlock detected": "deadlock",
    "lock timeout": "lock_timeout",
    "could not serialize access": "serialization",
    "permission denied": "denied",
    "must be owner": "denied",
    "No space left": "disk_full",
    "out of memory": "out_of_memory",
    "too many clients": "too_many_connections",
    "canceling statement": "timeout",
    "terminating connection": "connection_lost",
}

_ADVICE = {
    "disk_full": "; free space on the server's volumes, for data, log and tempdb",
    "out_of_memory": "; give the server more memory",
    "too_many_connections": "; raise 'user connections' on the server or use fewer sessions",
}
_CUT = re.compile(r"DB-Lib error message \d+", re.DOTALL)
_LIBRARY = re.compile(
    r"DB-Lib error message (\d+), severity (\d+):\s*(.*?)\s*(?=DB-Lib|$)", re.DOTALL
)


def kinds_by_number() -> dict[int, str]:
    """The class of each error whose number has one; 20000 to 20999 are the library's own."""
    return dict(_KINDS)


def kind_of(number: int, text: str) -> str:
    """The class of an error by its number; Babelfish's by its text."""
    if number in _KINDS:
        return _KINDS[number]
    if "Operating system error 112" in text or "No space left" in text:
        return "disk_full"
    if number == BABELFISH:
        return next((kind for words, kind in _TEXTS.items() if words in text), "database")
    return "database"


def statement_error(
    error: Exception, user: str = "", needs: str = "", messages: Iterable[Message] = ()
) -> DynoError:
    """The error for a failed statement.

    Args:
        error: The driver library's exception. It has the first message of the highest severity:
            of a BACKUP without the right, that it ended, not why.
        user: The login, for the missing ``GRANT``.
        needs: A ``GRANT`` without its user, for errors that do not name the missing right.
        messages: All messages of the statement.
    """
    number, text = parts(error)
    kind = kind_of(number, text)
    if kind in ("database", "denied") and (refusal := _refusal(messages)):
        kind, text = "denied", refusal
    if not number and ("not connected" in text.lower() or "closed" in text.lower()):
        kind, text = "connection_lost", "the session is closed"
    advice = _ADVICE.get(kind, "")
    if kind == "denied":
        statement = missing_grant(text, user) or (needs and f"{needs} TO {_name(user)}")
        advice = f"; an administrator must run: {statement}" if statement else ""
    label = f" [error {number}]" if number else ""
    return error_of_kind(kind, f"{_sentence(text)}{advice}{label}.")


def _refusal(messages: Iterable[Message]) -> str:
    """The first message on a missing right; empty without."""
    return next(
        (
            _line(text)
            for severity, text in messages
            if severity == _SECURITY and _DENIED.search(text)
        ),
        "",
    )


def connect_error(
    error: Exception,
    address: Address,
    database: str = "",
    encryption: Callable[[], int | None] = lambda: None,
) -> DynoError:
    """The error for a failed connection, with advice.

    Args:
        error: The driver library's exception.
        address: The server.
        database: The database that the session asked for.
        encryption: Asks the server what it says about encryption (``prelogin.encryption``).
    """
    server = address.server
    number, text = parts(error)
    if number in _CONNECT:
        filled = _CONNECT[number].format(
            server=server,
            database=database,
            place=_name(database),
            reason=_sentence(text),
            user=_name(address.user),
        )
        return error_of_kind(kind_of(number, text), f"{filled} [error {number}].")
    if 0 < number < _LIBRARY_FIRST or number >= BABELFISH:
        kind = kind_of(number, text)
        kind = "unreachable" if kind == "database" else kind
        return error_of_kind(kind, f"{server}: {_sentence(text)} [error {number}].")
    if "refused" in str(error) or "timed out" in str(error) or "unavailable" in text:
        silent = no_answer(server, address.host, "host or port", "TCP/IP enabled, its port open")
        return error_of_kind("unreachable", f"{silent}.")
    return error_of_kind("unreachable", f"{_cut_off(address, encryption())}.")


def _cut_off(address: Address, encryption: int | None) -> str:
    """Why a server ended a login without a message."""
    if encryption is None:
        return f"{address.server} does not speak SQL Server's protocol; check host and port"
    if address.encrypt and encryption == NOT_SUPPORTED:
        return _NO_TLS.format(server=address.server)
    if not address.encrypt and encryption in REQUIRED:
        return f"{address.server} requires an encrypted session; omit encrypt=off from the URL"
    if address.encrypt and not address.trust:
        return _UNTRUSTED.format(server=address.server)
    return f"{address.server} ended the login without a reason; its error log has it"


def parts(error: Exception) -> tuple[int, str]:
    """Number and text of an error; number 0 if the library reports none."""
    found: Any = error.args[0] if error.args else ""
    if isinstance(found, tuple) and len(found) == 2:
        number, text = int(found[0]), found[1]
    elif len(error.args) > 1 and isinstance(error.args[0], int):
        number, text = error.args[0], error.args[1]
    else:
        number, text = int(getattr(error, "number", 0) or 0), getattr(error, "message", found)
    plain = text.decode(errors="replace") if isinstance(text, bytes) else str(text)
    own = _CUT.split(plain)[0]
    library = _LIBRARY.search(plain)
    if library is None or (own.strip() and number not in _GREETINGS):
        return number, _line(own)
    # Without a text, the number may be that of an earlier login: the library does not clear it.
    if int(library[1]) == _FROM_SERVER:
        severity = int(library[2])
        return _BY_SEVERITY.get(severity, _FROM_SERVER), _line(library[3])
    return int(library[1]), _line(library[3])


_GREETINGS = (5701, 5703)
"""Messages at each login: the database and the language. The library keeps them."""
_FROM_SERVER = 20018
_LIBRARY_FIRST = 20000
_BY_SEVERITY = {11: 4060, 14: 18456}
"""The number that a failed login most likely has by its severity: database, user or password."""


_OBJECT = re.compile(
    r"The (\w+) permission was denied on the object '(.*?)', database '(.*?)', schema '(.*?)'"
)
_DATABASE = re.compile(r"^([A-Z ]+) permission (?:was )?denied in database '(.*?)'")
_SERVER = re.compile(r"^([A-Z ]+) permission was denied on object 'server'")
_ALTER = re.compile(r"permission to alter database '(?P<database>.*?)'")
_DBCC = re.compile(r"permission to run DBCC \w+ for database '(?P<database>.*?)'")
_ACCESS = re.compile(r'The server principal ".*?" is not able to access the database "'
                     r'(?P<database>.*?)"')  # fmt: skip


_IN_TEMPDB = re.compile(r"database ['\"]tempdb['\"]")
_STATE = re.compile(r"^VIEW DATABASE ((?:PERFORMANCE |SECURITY )?STATE) permission")


def missing_grant(text: str, user: str) -> str:
    """The T-SQL that gives the right an error names; empty if it names none.

    Rights in tempdb are gone after a restart, so there it is the one of the server that includes
    the right, if there is one.
    """
    if not _IN_TEMPDB.search(text):
        return _named_grant(text, user)
    found = _STATE.search(text)
    return f"USE [master]; GRANT VIEW SERVER {found[1]} TO {_name(user)}" if found else ""


def _named_grant(text: str, user: str) -> str:
    name = _name(user)
    if found := _OBJECT.search(text):
        right, _, database, schema = found.groups()
        return f"USE {_name(database)}; GRANT {right} ON SCHEMA::{_name(schema)} TO {name}"
    if found := _DATABASE.search(text):
        if found[1] == "CREATE DATABASE":
            return f"USE [master]; ALTER SERVER ROLE dbcreator ADD MEMBER {name}"
        return f"USE {_name(found[2])}; GRANT {found[1]} TO {name}"
    if found := _SERVER.search(text):
        return f"USE [master]; GRANT {found[1]} TO {name}"
    for pattern, statement in (
        (_ALTER, f"GRANT ALTER TO {name}"),
        (_DBCC, f"ALTER ROLE db_owner ADD MEMBER {name}"),
        (_ACCESS, owner(user)),
    ):
        if found := pattern.search(text):
            return f"USE {_name(found['database'])}; {statement}"
    return ""


def owner(user: str) -> str:
    """The T-SQL that makes a login the owner of the current database's objects."""
    name = _name(user)
    return f"CREATE USER {name} FOR LOGIN {name}; ALTER ROLE db_owner ADD MEMBER {name}"


_LOGIN = (
    f"{{server}} rejected the user or password; set the right ones in the URL or in {PASSWORD}. "
    "{reason}"
)
_NO_DATABASE = (
    "{server} has no database '{database}' that {user} may use; correct the URL, or an "
    "administrator must run: USE {place}; CREATE USER {user} FOR LOGIN {user} (if it is missing, "
    "CREATE DATABASE {place} first)"
)
_CONNECT = {
    18456: _LOGIN,
    18452: "{server} accepts Windows logins only; enable SQL Server authentication. {reason}",
    18470: "{server}: the login {user} is disabled. {reason}",
    18486: "{server}: the login {user} is locked out. {reason}",
    18487: "{server}: the password of {user} has expired; set a new one. {reason}",
    18488: "{server}: the password of {user} must be changed first. {reason}",
    4060: _NO_DATABASE,
    911: _NO_DATABASE,
    4064: "{server}: the login's default database is missing; name one in the URL. {reason}",
    916: "{server}: {user} may not use the database '{database}'. {reason}",
    40615: "{server}: its firewall does not admit this machine. {reason}",
}
_UNTRUSTED = (
    "{server} presented a certificate that this machine does not trust, or one for another host; "
    "name its authority in the URL with ca=FILE, or accept any certificate with trust=yes"
)
_NO_TLS = (
    "{server} does not offer an encrypted session; add encrypt=off to the URL to connect "
    "without, which also sends the password as plain text"
)


def _name(name: str) -> str:
    return "[" + name.replace("]", "]]") + "]"


def _line(text: str) -> str:
    return " ".join(text.split()).rstrip(".")


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] if text else "Unknown error"
