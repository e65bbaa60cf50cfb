"""The WAL of a server on a separate volume, moved while the server is down."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

from dyno.safety.safefiles import sync
from dyno.targets.postgresql.tablespaces import Home, require_reach
from dyno.workspace import places


def place(data: Path, home: Home, volume: str | None) -> None:
    """Moves the WAL to a volume, or back into the data folder if ``volume`` is None.

    The copy is complete and durable before the link changes; the old WAL is removed last.

    Raises:
        TargetError: If the server cannot use the volume.
        OSError: If copying failed; the WAL is unchanged.
    """
    mend(data)
    old = (data / "pg_wal").resolve()
    owner = home.identity.owner
    if volume is None:
        if take_back(data, owner) and not any(old.parent.glob("tablespace")):
            places.release(home.path, [old.parent])
        return
    new = places.claim(Path(volume), home.path, owner) / "wal"
    if old != new:
        move(data, new, owner, lambda: require_reach(new, Path(volume), home))


def move(
    data: Path, new: Path, owner: tuple[int, int], check: Callable[[], None] = lambda: None
) -> None:
    """Moves the WAL to a folder, which is made.

    Args:
        data: The data folder.
        new: Where to.
        owner: User and group of the server.
        check: Refuses the copy, by an exception.

    Raises:
        OSError: If copying failed; the WAL is unchanged.
    """
    mend(data)
    log = data / "pg_wal"
    old = log.resolve()
    shutil.rmtree(new, ignore_errors=True)  # left by a killed move
    _copy(old, new, owner)
    check()
    link = data / "pg_wal.link"
    link.unlink(missing_ok=True)
    link.symlink_to(new)
    if log.is_symlink():
        link.replace(log)
    else:
        log.rename(data / "pg_wal.old")
        link.rename(log)
        old = data / "pg_wal.old"
    sync(data)
    shutil.rmtree(old)


def take_back(data: Path, owner: tuple[int, int]) -> bool:
    """Moves the WAL back into the data folder; returns whether it was elsewhere.

    Raises:
        OSError: If copying failed; the WAL is unchanged.
    """
    mend(data)
    log = data / "pg_wal"
    if not log.is_symlink():
        return False
    old = log.resolve()
    _copy(old, data / "pg_wal.new", owner)
    log.unlink()
    (data / "pg_wal.new").rename(log)
    sync(data)
    shutil.rmtree(old)
    return True


def mend(data: Path) -> None:
    """Undoes a move that was killed between its last two steps."""
    log = data / "pg_wal"
    for name in ("pg_wal.old", "pg_wal.new"):
        rest = data / name
        if rest.exists() and not log.exists() and not log.is_symlink():
            rest.rename(log)
        shutil.rmtree(rest, ignore_errors=True)


def _copy(source: Path, target: Path, owner: tuple[int, int]) -> None:
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target)
    for path in (target, *target.rglob("*")):
        if owner[0] != os.geteuid():
            os.chown(path, *owner)
        sync(path)
    target.chmod(0o700)
    sync(target.parent)
