"""Attaching a cache to a folder, and detaching it."""

from __future__ import annotations

import contextlib
import fcntl
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil

from dyno.accelerate.attach import folder, mounting
from dyno.errors import TargetError, UsageError

_END_S = 120.0
_POLL_S = 0.05
CHECKPOINT = 0x4402
"""``_IO('D', 2)``; see ``crates/dyno-cache/src/mount/replies.rs``."""


def users(origin: Path) -> list[str]:
    """The processes that have a file or folder below ``origin`` open: name and number of each.

    Files that are opened before the cache is attached bypass it. Processes of other users are seen
    by root only. Those that serve a cache, and those that are ending, are left out.

    In a container, a folder has another path. Files of its processes are known by their inodes.
    """
    here = _namespace("self")
    inside: set[tuple[int, int]] | None = None
    found: set[str] = set()
    for pid, name, link in _open():
        with contextlib.suppress(OSError):
            used = _below(str(link.readlink()), origin)
            if not used and _namespace(pid) != here:
                status = link.stat()
                if status.st_dev == origin.stat().st_dev:
                    inside = _inodes(origin) if inside is None else inside
                    used = (status.st_dev, status.st_ino) in inside
            if used:
                found.add(f"{name} ({pid})")
    return sorted(found)


def _namespace(pid: int | str) -> str:
    """The mount namespace of a process; empty if this user may not know it."""
    with contextlib.suppress(OSError):
        return str(Path(f"/proc/{pid}/ns/mnt").readlink())
    return ""


def _inodes(origin: Path) -> set[tuple[int, int]]:
    """Device and inode of a folder and of all files and folders below it."""
    found: set[tuple[int, int]] = set()
    for folder_of, folders, files in os.walk(origin):
        for name in (".", *folders, *files):
            with contextlib.suppress(OSError):
                status = Path(folder_of, name).lstat()
                found.add((status.st_dev, status.st_ino))
    return found


def _open() -> Iterator[tuple[int, str, Path]]:
    for process in psutil.process_iter(["pid", "name", "cmdline"]):
        if any(word.startswith(f"{__package__}.") for word in process.info["cmdline"] or ()):
            continue
        folder_of = Path(f"/proc/{process.pid}")
        links = [folder_of / "cwd"]
        try:
            (folder_of / "exe").readlink()  # a process that ends loses it before its files
            links += (folder_of / "fd").iterdir()
        except FileNotFoundError:
            continue
        except OSError:
            pass
        for link in links:
            yield process.pid, process.info["name"], link


def _below(path: str, origin: Path) -> bool:
    return path == str(origin) or path.startswith(f"{origin}/")


def check(origin: Path, cache: Path) -> None:
    """Checks that a cache can be attached.

    Raises:
        UsageError: If the folders cannot be used so.
        TargetError: If FUSE cannot be used, or ``origin`` is in use.
    """
    if mounting.find(origin) is not None:
        raise UsageError(
            f"{origin} has a cache already. Detach it first: dyno accelerate detach {origin}"
        )
    if not origin.is_dir():
        raise UsageError(f"No such folder: {origin}.")
    if cache == origin or origin in cache.parents or cache in origin.parents:
        raise UsageError("The cache and the folder in front of which it is must be apart.")
    if os.geteuid() not in (0, origin.stat().st_uid):
        raise UsageError(f"{origin} belongs to another user. Run Dyno as that user or as root.")
    mounting.check_device()
    _refuse_users(origin)


def _refuse_users(origin: Path) -> None:
    if found := users(origin):
        more = f" and {len(found) - 3} more" if len(found) > 3 else ""
        raise TargetError(
            f"{origin} is in use by {', '.join(found[:3])}{more}. Stop the database first.",
            kind="io",
        )


def attach(cache: Path) -> None:
    """Starts a supervisor, which outlives this process, and returns when the mount is served.

    Raises:
        TargetError: If it cannot be mounted or served.
    """
    for left in (folder.RECORD, folder.TRACE):  # by a record that was killed
        (cache / left).unlink(missing_ok=True)
    ready, theirs = os.pipe()
    log = os.open(cache / folder.LOG, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    module = "dyno.accelerate.attach.supervisor"
    try:
        subprocess.Popen(
            [sys.executable, "-P", "-m", module, str(cache), str(theirs)],
            pass_fds=[theirs], stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/",
            start_new_session=True,
        )  # fmt: skip
        os.close(theirs)
        with os.fdopen(ready, encoding="utf-8", errors="replace") as answer:
            line = answer.readline()
    finally:
        os.close(log)
    if line != "\n":
        raise TargetError(line.strip() or f"The supervisor ended; see {cache / folder.LOG}.")


def cache_of(origin: Path) -> Path:
    """The folder of the cache that is attached to a folder.

    Raises:
        UsageError: If none is.
    """
    if (found := mounting.find(origin)) is None:
        raise UsageError(f"No cache is attached to {origin}.")
    return Path(found.source)


def detach(origin: Path) -> Path:
    """Unmounts, and returns the folder of the cache once its daemon has ended.

    Raises:
        UsageError: If ``origin`` has no cache attached.
        TargetError: If it is in use, or the daemon does not end.
    """
    cache = cache_of(origin)
    _checkpoint(origin)
    try:
        mounting.unmount(origin)
    except TargetError:
        _refuse_users(origin)
        raise
    end = time.monotonic() + _END_S
    while _in_use(cache):
        if time.monotonic() > end:
            raise TargetError(
                f"The daemon of {cache} still writes after {_END_S:.0f} s; see its log. The folder "
                "itself is complete.", kind="io",
            )  # fmt: skip
        time.sleep(_POLL_S)
    return cache


def for_everyone() -> bool:
    """Whether a mount of this user can be for all users."""
    return os.geteuid() == 0


def refuse_attached(cache: Path) -> None:
    """Refuses a cache that is attached.

    Raises:
        UsageError: If it is.
    """
    if (found := next((one for one in mounting.mounts() if one.source == str(cache)), None)) or (
        _in_use(cache)
    ):
        where = f"to {found.point}" if found else "elsewhere"
        raise UsageError(f"{cache} is attached {where}. Detach it first.")


def _checkpoint(origin: Path) -> None:
    """Lets the daemon note what files are now: what changes later is not kept.

    Without it, files that were written in the last minutes lose what is cached of them.
    """
    with contextlib.suppress(OSError):  # the daemon is dead
        fd = os.open(origin, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            fcntl.ioctl(fd, CHECKPOINT)
        finally:
            os.close(fd)


def _in_use(cache: Path) -> bool:
    """Whether a daemon holds the lock of a cache."""
    try:
        fd = os.open(cache / folder.CACHE, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(fd)
    return False
