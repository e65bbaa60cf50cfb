"""The folder of a private server: who may pass through it, and what is said when it cannot be."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Generator
from pathlib import Path

from dyno.errors import DiskFullError, TargetError
from dyno.safety.safefiles import directory, make_folder


def make(home: Path) -> None:
    """Makes it, or lets whoever the server runs as pass: the data inside has its own mode.

    Raises:
        UsageError: If a link or another user's folder is in its place.
        OSError: If it cannot be made.
    """
    make_folder(home)
    with directory(home) as fd:
        os.fchmod(fd, 0o711 if os.geteuid() == 0 else 0o700)


@contextlib.contextmanager
def readable_errors(home: Path, product: str) -> Generator[None]:
    """Turns errors of the system inside the block into ones that say what to do.

    Raises:
        DiskFullError: For a volume or quota that is full.
        TargetError: For any other.
    """
    try:
        yield
    except OSError as error:
        place = error.filename or home
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DiskFullError(f"No space left for {product} in {place}.") from error
        message = f"{product} cannot use {place}: {error.strerror}. Give another --out DIR."
        raise TargetError(message, kind="io") from error
