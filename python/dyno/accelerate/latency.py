"""How long a device takes for a read and for a write with its sync: a look, not a profile."""

from __future__ import annotations

import mmap
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from dyno.accelerate.proposal import Flash, Floats
from dyno.errors import DiskFullError
from dyno.safety.unwritable import why

_BLOCK, _FILE, _PIECE = 8192, 64 << 20, 1 << 20
_SECONDS, _MOST = 1.0, 5000


def measure(folder: Path) -> Flash:
    """Reads of 8 KiB at random places, then writes of 8 KiB with fdatasync, a second each.

    The file of 64 MiB has no name. It is read past the page cache, if its file system can.

    Raises:
        DiskFullError: If it cannot be written.
    """
    try:
        return _measured(folder)
    except OSError as error:
        raise DiskFullError(f"Cannot measure {folder}: {why(error, folder)}", kind="io") from error


def _measured(folder: Path) -> Flash:
    places = np.random.default_rng(1)

    def place() -> int:
        return int(places.integers(_FILE // _BLOCK)) * _BLOCK

    with tempfile.TemporaryFile(dir=folder) as file, mmap.mmap(-1, _BLOCK) as page:
        fd = file.fileno()
        for _ in range(_FILE // _PIECE):
            file.write(os.urandom(_PIECE))
        file.flush()
        os.fsync(fd)
        page.write(os.urandom(_BLOCK))

        def write() -> None:
            os.pwrite(fd, page, place())
            os.fdatasync(fd)

        direct = _past_the_page_cache(fd)
        try:
            return Flash(_times(lambda: os.preadv(direct, [page], place())), _times(write))
        finally:
            os.close(direct)


def _past_the_page_cache(fd: int) -> int:
    try:
        return os.open(f"/proc/self/fd/{fd}", os.O_RDONLY | os.O_DIRECT | os.O_CLOEXEC)
    except OSError:  # a file system in memory
        return os.dup(fd)


def _times(work: Callable[[], object]) -> Floats:
    """Milliseconds of each of as many repetitions as take a second."""
    found: list[float] = []
    end = time.monotonic() + _SECONDS
    while not found or (time.monotonic() < end and len(found) < _MOST):
        began = time.perf_counter()
        work()
        found.append(1000 * (time.perf_counter() - began))
    return np.array(found)
