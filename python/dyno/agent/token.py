"""The secret that a run shares with an agent: from the environment or a private file."""

from __future__ import annotations

import os
import secrets
import stat
from pathlib import Path

from dyno.errors import UsageError

VARIABLE = "DYNO_AGENT_TOKEN"
LEAST = 16
"""Characters of a token."""
_MOST_BYTES = 4096


def read_token(file: Path | None) -> str:
    """The token in ``file``, else in the environment; empty if neither is given.

    Raises:
        UsageError: If the file cannot be read, others may read it, or the token is too short.
    """
    if file is None:
        text, where = os.environ.get(VARIABLE, ""), VARIABLE
        if not text:
            return ""
    else:
        text, where = _private(file), str(file)
    token = text.strip()
    if len(token) < LEAST or not token.isascii() or not token.isprintable() or " " in token:
        raise UsageError(f"The token in {where} needs at least {LEAST} ASCII letters or digits.")
    return token


def make_token(file: Path) -> None:
    """Writes a random token to a new file that only this user can read.

    Raises:
        UsageError: If it cannot be created.
    """
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        with os.fdopen(os.open(file, flags, 0o600), "w", encoding="ascii") as opened:
            opened.write(secrets.token_hex(32) + "\n")
    except OSError as error:
        raise UsageError(f"Cannot create {file}: {error.strerror}.") from error


def _private(file: Path) -> str:
    try:
        with os.fdopen(os.open(file, os.O_RDONLY | os.O_NONBLOCK), encoding="ascii") as opened:
            found = os.fstat(opened.fileno())
            if not stat.S_ISREG(found.st_mode):
                raise UsageError(f"{file} is not a regular file.")
            if found.st_mode & 0o077:
                raise UsageError(f"Other users may read {file}: run chmod 600 on it.")
            return opened.read(_MOST_BYTES)
    except OSError as error:
        raise UsageError(f"Cannot read {file}: {error.strerror}.") from error
    except ValueError as error:
        raise UsageError(f"{file} has no token.") from error
