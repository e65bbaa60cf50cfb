"""The log of a server that the user runs, moved while the server is down."""

from __future__ import annotations

from pathlib import Path

from dyno.targets.postgresql import wal


def log_of(folder: Path) -> Path | None:
    """Where the log of the server in a data folder is; None if it is not PostgreSQL's."""
    log = folder / "pg_wal"
    found = (folder / "PG_VERSION").is_file() and (log.is_dir() or (folder / "pg_wal.old").is_dir())
    return log.resolve() if found else None


def move(folder: Path, to: Path) -> None:
    """Moves the log; see :func:`dyno.targets.postgresql.wal.move`."""
    wal.move(folder, to, _owner(folder))


def take_back(folder: Path) -> None:
    """Moves it back; see :func:`dyno.targets.postgresql.wal.take_back`."""
    wal.take_back(folder, _owner(folder))


def _owner(folder: Path) -> tuple[int, int]:
    found = folder.stat()
    return found.st_uid, found.st_gid
