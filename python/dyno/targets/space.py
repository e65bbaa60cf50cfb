"""The disk space that a run needs, checked before it starts."""

from __future__ import annotations

import shutil
from pathlib import Path

from dyno import targets
from dyno.config.units import bytes_text
from dyno.errors import DiskFullError


def required_bytes(raw_bytes: dict[str, float], io_file_bytes: int = 0) -> int:
    """Bytes needed at the peak for raw rows per target (``{"postgresql": 1.1e9}``).

    The profile's test file is removed before data is loaded, so only the larger of the two counts.
    """
    data = sum(targets.expansion(name) * size for name, size in raw_bytes.items())
    return int(max(data, io_file_bytes) * 1.05)


def require_space(path: Path, needed: int, hint: str) -> None:
    """Rejects a run that does not fit.

    Raises:
        DiskFullError: With the needed and the free space, and ``hint``.
    """
    free = shutil.disk_usage(path).free
    if free < needed:
        raise DiskFullError(
            f"This needs {bytes_text(needed)} in {path}, which has {bytes_text(free)} free. {hint}"
        )
