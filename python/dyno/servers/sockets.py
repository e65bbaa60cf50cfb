"""The folder of the server's unix socket: private, with a path short enough for the kernel."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from pathlib import Path

from dyno.errors import TargetError, UsageError
from dyno.safety.removal import remove_tree
from dyno.safety.safefiles import append, own_text

LONGEST = 107
"""Maximum bytes of a socket's path: ``sun_path`` holds 108 with the final zero (unix(7))."""

_PREFIX = "dyno-"
_MARK, _LONGEST_MARK = ".dyno", 8192
LAST_RESORT = "/tmp"  # noqa: S108
"""The fallback if TMPDIR is a long path."""


def fits(folder: Path, name: str) -> bool:
    """Whether a socket path in ``folder`` suits the kernel, and is a single host for libpq."""
    return len(os.fsencode(folder / name)) <= LONGEST and "," not in str(folder)


def make(home: Path, owner: tuple[int, int], name: str) -> Path:
    """Creates the folder, with mode 0700, for the socket ``name`` of a server run by ``owner``.

    It is ``home/s``. If that path is too long, ``home/s`` is a link to a folder with a short path,
    so
    that it can be found and removed after a kill.

    Raises:
        TargetError: If no location gives a path that is short enough.
    """
    remove(home)
    link = home / "s"
    if fits(link, name):
        link.mkdir(mode=0o700)
        folder = link
    else:
        folder = _short(home, name, foreign=owner[0] != os.geteuid())
        link.symlink_to(folder)
        with append(folder / _MARK, new=True) as file:  # before the server's user owns it
            file.write(_said(home))
    if owner[0] != os.geteuid():
        os.chown(folder, *owner)
    return folder


def remove(home: Path) -> None:
    """Removes the folder that :func:`make` created, also one of a killed Dyno."""
    link = home / "s"
    if link.is_symlink():
        # A copied or planted link points to a folder without our mark.
        with contextlib.suppress(OSError, UsageError):
            remove_tree(link.readlink(), lambda fd: _is_marked(fd, home))
        link.unlink()
    elif link.exists():
        shutil.rmtree(link, ignore_errors=True)


def _said(home: Path) -> bytes:
    """The mark in the socket folder of the server in ``home``."""
    return f"{home.absolute()}\n".encode()


def _is_marked(fd: int, home: Path) -> bool:
    return own_text(_MARK, _LONGEST_MARK, at=fd) == _said(home).decode()


def _short(home: Path, name: str, *, foreign: bool) -> Path:
    # A server under another user cannot enter our own runtime folder.
    runtime = None if foreign else os.environ.get("XDG_RUNTIME_DIR")
    places = [Path(place) for place in (runtime, tempfile.gettempdir(), LAST_RESORT) if place]
    for place in places:
        sample = place / (_PREFIX + "x" * 8)  # mkdtemp adds eight characters
        if not fits(sample, name):
            continue
        try:
            return Path(tempfile.mkdtemp(prefix=_PREFIX, dir=place))
        except OSError:
            continue
    most = LONGEST - len(os.fsencode(f"/s/{name}"))
    raise TargetError(
        f"The path of the server's socket would be too long: {home} has "
        f"{len(os.fsencode(home))} bytes, at most {most} are allowed, and no short temporary "
        "folder can be written. Give a shorter --out DIR, or set TMPDIR to a short path."
    )
