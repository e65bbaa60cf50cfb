"""Why a file or folder cannot be made, in words for a person."""

from __future__ import annotations

import os
from pathlib import Path


def stores_no_files(path: Path) -> bool:
    """Whether ``path`` lies on a file system of the kernel's own, such as /proc.

    Those report a size of no blocks. A path that does not exist stands for its nearest parent.
    """
    try:
        place = next(folder for folder in (path, *path.absolute().parents) if folder.exists())
        return os.statvfs(place).f_blocks == 0
    except (OSError, StopIteration):
        return False


def why(error: OSError, path: Path) -> str:
    """The reason for which ``path`` could not be made or written, without a full stop."""
    if stores_no_files(path):
        return "it is a kernel file system, which stores no files"
    if isinstance(error, FileNotFoundError) and not path.parent.exists():
        return f"no such folder: {path.parent}"
    return error.strerror or str(error)
