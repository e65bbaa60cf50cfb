"""The private server's WAL on a separate volume, moved while the server is down."""

from __future__ import annotations

import os
import shutil
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
    log = data / "pg_wal"
    old = log.resolve()
    if volume is None:
        if log.is_symlink():
            _copy(old, data / "pg_wal.new", home)
            log.unlink()
            (data / "pg_wal.new").rename(log)
            shutil.rmtree(old)
            if not any(old.parent.glob("tablespace")):
                places.release(home.path, [old.parent])
        return
    new = places.claim(Path(volume), home.path, home.identity.owner) / "wal"
    if old == new:
        return
    shutil.rmtree(new, ignore_errors=True)  # left by a killed move
    _copy(old, new, home)
    require_reach(new, Path(volume), home)
    link = data / "pg_wal.link"
    link.unlink(missing_ok=True)
    link.symlink_to(new)
    if log.is_symlink():
        link.replace(log)
    else:
        log.rename(data / "pg_wal.old")
        link.rename(log)
        old = data / "pg_wal.old"
    shutil.rmtree(old)


def mend(data: Path) -> None:
    """Undoes a move that was killed between its last two steps."""
    log = data / "pg_wal"
    for name in ("pg_wal.old", "pg_wal.new"):
        rest = data / name
        if rest.exists() and not log.exists() and not log.is_symlink():
            rest.rename(log)
        shutil.rmtree(rest, ignore_errors=True)


def _copy(source: Path, target: Path, home: Home) -> None:
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target)
    own = home.identity.owner[0] == os.geteuid()
    for path in (target, *target.rglob("*")):
        if not own:
            os.chown(path, *home.identity.owner)
        sync(path)
    target.chmod(0o700)
