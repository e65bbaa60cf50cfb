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
    "(PostgreSQL), MYSQL_PWD or ~/.my.cnf (MariaDB, MySQL)."
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
