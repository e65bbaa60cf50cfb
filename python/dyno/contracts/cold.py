"""The protocol of targets that start with empty caches (``Capabilities.cold``)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable


@dataclass(frozen=True)
class Emptied:
    """Files that were dropped from the page cache.

    Attributes:
        bytes: Size of the files.
        before_bytes: Cached bytes before.
        left_bytes: Cached bytes afterwards, by mincore(2).
        how: ``posix_fadvise``, or ``drop_caches`` if that was not enough.
        file_system: Type of the file system.
    """

    files: int
    bytes: int
    before_bytes: int
    left_bytes: int
    how: str
    file_system: str

    @property
    def left_share(self) -> float:
        """Cached bytes afterwards, as a share of the files."""
        return self.left_bytes / self.bytes if self.bytes else 0.0


@runtime_checkable
class Coolable(Protocol):
    """A target that can restart with none of its data in memory."""

    def cool(self) -> Emptied:
        """Stops the engine, drops its data from the page cache, and starts it again.

        All sessions must be closed; its settings stay.

        Raises:
            UsageError: If that is not possible, with the reason.
            TargetError: If Dyno cannot verify that the caches are empty.
        """
        ...
