"""Journals: one record per line; after a kill, a record is complete or absent."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from dyno.bundle.model import Model
from dyno.errors import UsageError
from dyno.safety import safefiles
from dyno.safety.safefiles import open_own

M = TypeVar("M", bound=Model)

LONGEST = 64 << 20
"""Maximum size in bytes of a journal and of other files of a study."""


def read(path: Path, kind: type[M]) -> list[M]:
    """Reads the records of a journal; skips an incomplete last line.

    Raises:
        UsageError: If a line is invalid.
    """
    try:
        lines = safefiles.read_bytes(path, LONGEST).splitlines(keepends=True)
        return [kind.model_validate_json(line) for line in lines if line.endswith(b"\n")]
    except FileNotFoundError:
        return []
    except ValidationError as error:
        raise UsageError(f"{path} is damaged: {error.errors()[0]['msg']}.") from error


def append(path: Path, record: Model) -> None:
    """Appends a record to a journal, durably.

    Raises:
        DiskFullError, TargetError: If it cannot be written.
        UsageError: If the path is a link or no regular file.
    """
    from dyno.bundle.writer import file_error

    try:
        fd = open_own(path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            size = os.lseek(fd, 0, os.SEEK_END)
            kept = os.pread(fd, size, 0).rfind(b"\n") + 1
            os.ftruncate(fd, kept)  # drops an incomplete line
            os.pwrite(fd, record.model_dump_json().encode() + b"\n", kept)
            os.fsync(fd)
        finally:
            os.close(fd)
    except OSError as error:
        raise file_error(error, path) from error
