"""Journals: a record a line, each of which is there whole or, after a kill, not at all."""

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
"""Bytes of a journal, and of what else a study keeps."""


def read(path: Path, kind: type[M]) -> list[M]:
    """The records of a journal; a last line that a kill cut off is left out.

    Raises:
        UsageError: If a line makes no sense.
    """
    try:
        lines = safefiles.read_bytes(path, LONGEST).splitlines(keepends=True)
        return [kind.model_validate_json(line) for line in lines if line.endswith(b"\n")]
    except FileNotFoundError:
        return []
    except ValidationError as error:
        raise UsageError(f"{path} is damaged: {error.errors()[0]['msg']}.") from error


def append(path: Path, record: Model) -> None:
    """Adds a record to a journal, durably.

    Raises:
        DiskFullError, TargetError: If it cannot be written.
        UsageError: If a link or no regular file is in its place.
    """
    from dyno.bundle.writer import file_error

    try:
        fd = open_own(path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            size = os.lseek(fd, 0, os.SEEK_END)
            kept = os.pread(fd, size, 0).rfind(b"\n") + 1
            os.ftruncate(fd, kept)  # a line that a kill cut off
            os.pwrite(fd, record.model_dump_json().encode() + b"\n", kept)
            os.fsync(fd)
        finally:
            os.close(fd)
    except OSError as error:
        raise file_error(error, path) from error
