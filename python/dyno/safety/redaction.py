"""Passwords on a command line: out of what is recorded or shown, and out of the process list."""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Sequence
from pathlib import Path

NOTE = (
    "dyno: Note: other users can see a password on the command line (process list, "
    "shell history). Omit it from the URL and use PGPASSWORD or ~/.pgpass "
    "(PostgreSQL), MYSQL_PWD or ~/.my.cnf (MariaDB, MySQL), MSSQL_PASSWORD (SQL Server)."
)

_AUTHORITY = re.compile(r"(?<=://)([^/?#:]*):.*@", re.DOTALL)
_NO_SLASHES = re.compile(r"^([^:]*):(?!//).*@", re.DOTALL)
_NAMES = (
    "ssl|connect_|host|port|user|dbname|options|application_|channel_|target_|gss|keepalives|tcp_"
)
"""How parameters begin of which a password is not taken to go on beyond an ``&``."""
_QUERY = re.compile(
    rf"([?&][^=&]*pass[^=&]*=).*?(?=&(?:{_NAMES})\w*=|$)", re.DOTALL | re.IGNORECASE
)
_URL = re.compile(r"[a-zA-Z][\w+.-]*://[^\s'\"]+")
_KEYWORD = re.compile(r"((?:^|[\s=])\w*(?:pass|pwd)\w*\s*=).+$", re.DOTALL | re.IGNORECASE)


def redact(text: str) -> str:
    """A URL without its passwords, in the authority or in the query. Other text stays as it is.

    What stands between the first colon and the last ``@`` is taken for a password, also where it
    has characters that should be percent-encoded, or the URL lacks its slashes; of ``key=value``
    pairs all that follows ``password=``.
    """
    text = _AUTHORITY.sub(r"\1:***@", text)
    text = _NO_SLASHES.sub(r"\1:***@", text)
    text = _QUERY.sub(r"\1***", text)
    return text if "://" in text else _KEYWORD.sub(r"\1***", text)


def masked(text: str) -> str:
    """Any text, with the passwords taken out of its URLs."""
    return _URL.sub(lambda found: redact(found[0]), text)


_SECRET = re.compile(
    r"pass(?:word|wd|phrase)|\bpwd\b|identified|secret|credential|token|private[_ ]?key"
    r"|api[_ ]?key|crypt|\bhmac\b|(?:create|alter|set)\s+(?:user|role|server|subscription)"
    r"|connection\s*'|dblink|change\s+(?:master|replication)",
    re.IGNORECASE,
)
"""Words of statements that may have a secret in a literal."""
# A literal without its end is cut off: it goes to the end of the text.
_LITERAL = re.compile(
    r"""'(?:[^'\\]|''|\\.)*(?:'|$)|"(?:[^"\\]|""|\\.)*(?:"|$)|\$(\w*)\$.*?(?:\$\1\$|$)""",
    re.DOTALL,
)
_ASSIGNED = re.compile(
    r"((?:pass(?:word|wd)?|pwd|secret|token)\s*[=:]\s*)"
    r"(?!(?:\$\d+|\?|[:@]\w+)(?:[\s;,)]|$))[^\s'\";,)]+",
    re.IGNORECASE,
)
"""Not parameters, which are no values."""


def is_secret(name: str) -> bool:
    """Whether the value under a name may be a secret."""
    return _SECRET.search(name.replace("_", " ")) is not None


def secretless(statement: str) -> str:
    """A statement without what may be a secret; others stay as they are.

    Statements that name a password, a key or an account lose all their literals, quoted names
    included: which of them is the secret depends on the product and its version.
    """
    text = masked(statement)
    if not _SECRET.search(text):
        return text
    return _ASSIGNED.sub(r"\1***", _LITERAL.sub("'***'", text))


def without(words: Sequence[str], message: str) -> str:
    """A message in which no word of the command line shows its password."""
    for word in words:
        for secret in (word, word.partition("=")[2]):
            if redact(secret) != secret:
                message = message.replace(secret, redact(secret))
                # As a path, two slashes are one.
                message = message.replace(str(Path(secret)), redact(secret))
    return message


def hide_own(words: Sequence[str]) -> bool:
    """Takes passwords out of what the process list shows of this process, where the system lets it.

    Args:
        words: The command line's.

    Returns:
        Whether there was one.
    """
    secret = [word for word in words if redact(word) != word]
    if secret:
        with contextlib.suppress(OSError, ValueError, IndexError, OverflowError):
            _overwrite(secret)
    return bool(secret)


def _overwrite(secret: Sequence[str]) -> None:
    """Writes over arguments where the kernel reads them from (Linux: proc(5), ``arg_start``)."""
    if not sys.platform.startswith("linux"):
        return
    with Path("/proc/self/stat").open("rb") as stat:
        fields = stat.read().rpartition(b")")[2].split()
    start, end = int(fields[45]), int(fields[46])
    with Path("/proc/self/mem").open("r+b", buffering=0) as memory:
        memory.seek(start)
        arguments = memory.read(end - start).split(b"\0")
        hidden = {word.encode(errors="surrogateescape"): redact(word) for word in secret}
        for number, word in enumerate(arguments):
            if (shown := hidden.get(word)) is not None:
                # The length stays the same, so that the following arguments keep their place.
                replacement = shown.encode(errors="surrogateescape")
                arguments[number] = replacement[: len(word)].ljust(len(word))
        memory.seek(start)
        memory.write(b"\0".join(arguments))
