"""A lock on the output folder: concurrent runs would disturb each other."""

from __future__ import annotations

import fcntl
import os
import re
import time
from pathlib import Path

from dyno.errors import TargetError, UsageError
from dyno.safety.safefiles import open_own
from dyno.safety.unwritable import why

_LOOK_S = 0.05
"""Longer than the brief lock of :meth:`OutLock.held`."""

_OWNER = re.compile(rb"[0-9]{0,20}\s*")


def open_lock(path: Path, mode: int = 0o644) -> int:
    """Opens a lock file, created if missing; its content is the holder's process id.

    Raises:
        UsageError: If the file is not a lock file of Dyno; it stays unchanged.
        OSError: If it cannot be opened.
    """
    fd = open_own(path, os.O_RDWR | os.O_CREAT, mode)
    if _OWNER.fullmatch(os.pread(fd, 64, 0)) is None:
        os.close(fd)
        raise UsageError(f"{path} is not a lock file of Dyno. Remove it, or use another --out DIR.")
    return fd


def owner_of(fd: int) -> str:
    """Process id of a lock's holder, as digits; empty if unknown."""
    return os.pread(fd, 32, 0).decode(errors="replace").strip()


class OutLock:
    """Holds ``<out>/.lock`` as a context manager; the kernel frees it if Dyno is killed."""

    def __init__(self, out: Path) -> None:
        self._path = out / ".lock"
        self._fd = -1

    def __enter__(self) -> OutLock:
        """Takes the lock.

        Raises:
            UsageError: If the folder cannot be created or written, its volume is full, or the lock
                file is not Dyno's.
            TargetError: If another Dyno holds it.
        """
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._fd = open_lock(self._path)
        except OSError as error:
            raise self._refusal(error) from error
        if not self._taken():
            owner = owner_of(self._fd) or "unknown"
            os.close(self._fd)
            raise TargetError(
                f"Another dyno (process {owner}) is running in {self._path.parent}; wait for "
                "it. Concurrent runs would disturb each other.",
                kind="busy",
            )
        try:
            os.ftruncate(self._fd, 0)
            os.pwrite(self._fd, str(os.getpid()).encode(), 0)
        except OSError as error:
            os.close(self._fd)
            raise self._refusal(error) from error
        return self

    def _refusal(self, error: OSError) -> UsageError:
        folder = self._path.parent
        reason = why(error, self._path)
        return UsageError(f"Cannot write to {folder}: {reason}. Use another --out DIR.")

    def _taken(self) -> bool:
        for pause_s in (_LOOK_S, 0.0):
            try:
                fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                time.sleep(pause_s)
            else:
                return True
        return False

    @staticmethod
    def held(out: Path) -> bool:
        """Whether a Dyno is running in ``out``, as far as this user can see."""
        try:
            fd = open_own(out / ".lock", os.O_RDONLY)
        except (OSError, UsageError):
            return False
        try:
            fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            return True
        finally:
            os.close(fd)
        return False

    def __exit__(self, *exc: object) -> None:
        """Frees the lock."""
        os.close(self._fd)
