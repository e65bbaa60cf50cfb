"""SQLite errors, mapped to the classes of a bundle."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from dyno.errors import DynoError, TargetError, error_of_kind

# By primary result code: https://www.sqlite.org/rescode.html
_KINDS = {
    sqlite3.SQLITE_PERM: "denied",
    sqlite3.SQLITE_BUSY: "lock_timeout",
    sqlite3.SQLITE_LOCKED: "lock_timeout",
    sqlite3.SQLITE_NOMEM: "out_of_memory",
    sqlite3.SQLITE_READONLY: "denied",
    sqlite3.SQLITE_INTERRUPT: "timeout",
    sqlite3.SQLITE_IOERR: "io",
    sqlite3.SQLITE_CORRUPT: "io",
    sqlite3.SQLITE_FULL: "disk_full",
    sqlite3.SQLITE_CANTOPEN: "io",
    sqlite3.SQLITE_AUTH: "denied",
    sqlite3.SQLITE_NOTADB: "io",
}

_ADVICE = {
    sqlite3.SQLITE_BUSY: "another process has locked it; wait for it, or use another file",
    sqlite3.SQLITE_READONLY: "it is read-only for its user; use another file or allow writing",
    sqlite3.SQLITE_CORRUPT: "it is damaged; run PRAGMA integrity_check",
    sqlite3.SQLITE_FULL: "free space on its volume, and on the volume of temporary files",
    sqlite3.SQLITE_NOTADB: "it is not a SQLite database; use another file",
}


def classed(error: sqlite3.Error, file: Path) -> DynoError:
    """The error for a failed statement."""
    code = _code(error)
    advice = f" ({file}: {_ADVICE[code]})" if code in _ADVICE else ""
    return error_of_kind(_KINDS.get(code, "database"), f"SQLite: {_line(error)}{advice}.")


def open_error(error: sqlite3.Error, file: Path) -> TargetError:
    """The error for a file that cannot be opened, with advice."""
    code = _code(error)
    if file.is_dir():
        return TargetError(f"{file} is a folder; name a SQLite file in it.", kind="io")
    if not file.parent.is_dir():
        return TargetError(f"No such folder: {file.parent}.", kind="io")
    if code == sqlite3.SQLITE_NOTADB:
        return TargetError(f"{file} is not a SQLite database; use another file.", kind="io")
    if code == sqlite3.SQLITE_BUSY:
        return TargetError(f"{file} is locked by another process; wait for it.")
    reason = _ADVICE.get(code) or "check that its user may read and write it and its folder"
    return TargetError(
        f"SQLite cannot open {file}: {_line(error)}; {reason}.", kind=_KINDS.get(code, "io")
    )


def _code(error: sqlite3.Error) -> int:
    """The primary result code; 0 for errors of the Python module."""
    return int(getattr(error, "sqlite_errorcode", None) or 0) & 0xFF


def _line(error: sqlite3.Error) -> str:
    return " ".join(str(error).split()).rstrip(".") or type(error).__name__
