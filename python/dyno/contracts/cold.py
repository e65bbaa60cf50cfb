"""What a target offers that can start with empty caches (``Capabilities.cold``)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable


@dataclass(frozen=True)
class Emptied:
    """Files that were put out of the page cache.

    Attributes:
        bytes: Size of the files.
        before_bytes: What of them was in memory before.
        left_bytes: What still was afterwards, by mincore(2).
        how: ``posix_fadvise``, or ``drop_caches`` where that did not do.
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
        """What is left, as a share of the files."""
        return self.left_bytes / self.bytes if self.bytes else 0.0


@runtime_checkable
class Coolable(Protocol):
    """A target that can be restarted with none of its data in memory."""

    def cool(self) -> Emptied:
        """Ends what runs, empties the page cache of the data, and starts again.

        All sessions must be closed; its settings stay.

        Raises:
            UsageError: If it is beyond reach, with the reason.
            TargetError: If it cannot be proven that the caches are empty.
        """
        ...
