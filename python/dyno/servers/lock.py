"""A lock on a data folder: one server at a time, even after the Dyno that started it was killed."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable
from pathlib import Path

from dyno.errors import TargetError
from dyno.workspace.lock import open_lock, owner_of

_POLL_S = 0.05


class EngineLock:
    """An exclusive lock on a folder, with a descriptor that the server inherits.

    The kernel releases it when the last process with an open descriptor exits: Dyno, the server and
    all of the server's child processes. So the holder knows that nothing runs in the folder.
    """

    def __init__(self, home: Path, product: str) -> None:
        self._home = home
        self._product = product
        self._path = home / "lock"
        self.descriptor = -1

    def acquire(self, grace_s: float, evict: Callable[[], None]) -> None:
        """Acquires the lock.

        If the Dyno that held it is dead, its server is shutting down: this waits for it, and after
        ``grace_s`` seconds calls ``evict``.

        Raises:
            UsageError: If Dyno did not create the lock file.
            TargetError: If another Dyno holds it, or the file cannot be opened.
        """
        try:
            descriptor = open_lock(self._path, 0o600)
        except OSError as error:
            message = f"Cannot open {self._path}: {error.strerror}. Give another --out DIR."
            raise TargetError(message, kind="io") from error
        try:
            self._wait(descriptor, grace_s, evict)
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, str(os.getpid()).encode(), 0)
        except BaseException:
            os.close(descriptor)
            raise
        self.descriptor = descriptor

    def release(self) -> None:
        """Releases it."""
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1

    def _wait(self, descriptor: int, grace_s: float, evict: Callable[[], None]) -> None:
        deadline = time.monotonic() + grace_s
        evicted = False
        while not _try_lock(descriptor):
            owner = owner_of(descriptor)
            if not owner.isdigit() or _alive(int(owner)):
                raise TargetError(
                    f"Another dyno (process {owner or 'unknown'}) uses the embedded "
                    f"{self._product} in {self._home}; wait for it or give another --out DIR."
                )
            if time.monotonic() > deadline:
                if evicted:
                    raise TargetError(
                        f"A {self._product} that dyno process {owner} left behind in {self._home} "
                        "does not end; give another --out DIR."
                    )
                evict()
                evicted = True
                deadline = time.monotonic() + grace_s
            time.sleep(_POLL_S)  # flock has no timeout


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
