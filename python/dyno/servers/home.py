"""The folder of a private server: permissions and error messages."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Generator
from pathlib import Path

from dyno.errors import DiskFullError, TargetError
from dyno.safety.safefiles import directory, make_folder


def make(home: Path) -> None:
    """Creates it, or lets the server's user pass through it: the data below has its own mode.

    Raises:
        UsageError: If the path is a link or another user's folder.
        OSError: If it cannot be created.
    """
    make_folder(home)
    with directory(home) as fd:
        os.fchmod(fd, 0o711 if os.geteuid() == 0 else 0o700)


@contextlib.contextmanager
def readable_errors(home: Path, product: str) -> Generator[None]:
    """Converts system errors in the block to errors with advice.

    Raises:
        DiskFullError: For a full volume or quota.
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
