"""What was asked of storage: accesses to blocks, in the order of their times."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from dyno.config.units import bytes_text
from dyno.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

WRITE = 0x80
"""The bit of a kind that says that the access writes."""
LARGEST = 200_000_000
"""Accesses of a trace; each takes 9 bytes of memory, and a simulation three times that."""
_FILE_SHIFT = 40
"""Blocks of a file: up to 2^40."""


@dataclass(frozen=True)
class Trace:
    """Accesses to blocks of one size.

    Attributes:
        blocks: Their numbers: ``uint64``, N.
        kinds: The kind of the file of each, as an index into ``names``, with :data:`WRITE`:
            ``uint8``, N.
        names: The kinds of files.
        block_bytes: Bytes of a block; None if the trace has objects, each of which counts as one.
        seconds: From its first access to its last; None if it has no times.
    """

    blocks: NDArray[np.uint64]
    kinds: NDArray[np.uint8]
    names: tuple[str, ...]
    block_bytes: int | None
    seconds: float | None

    @property
    def reads(self) -> int:
        """The number of accesses that read."""
        return int(np.count_nonzero((self.kinds & WRITE) == 0))

    def repeated(self, times: int) -> Trace:
        """The same accesses several times in a row."""
        seconds = None if self.seconds is None else times * self.seconds
        blocks, kinds = np.tile(self.blocks, times), np.tile(self.kinds, times)
        return replace(self, blocks=blocks, kinds=kinds, seconds=seconds)


@dataclass(frozen=True)
class Requests:
    """Requests for bytes of files or devices; arrays of one length.

    Attributes:
        files: Numbers of the files, below 2^24.
        offsets: First bytes.
        sizes: Bytes.
        kinds: As in :class:`Trace`.
    """

    files: NDArray[np.integer]
    offsets: NDArray[np.integer]
    sizes: NDArray[np.integer]
    kinds: NDArray[np.uint8]

    def trace(self, block_bytes: int, names: tuple[str, ...], seconds: float | None) -> Trace:
        """All blocks that the requests touch, each request's in ascending order.

        Raises:
            UsageError: If a number is out of range, or there are too many blocks.
        """
        offsets, sizes = (values.astype(np.int64) for values in (self.offsets, self.sizes))
        if offsets.size and (offsets.min() < 0 or sizes.min() < 0):
            raise UsageError("The trace has negative offsets or sizes.")
        if offsets.size and int(offsets.max()) + int(sizes.max()) >= block_bytes << _FILE_SHIFT:
            raise UsageError("The trace has offsets beyond the largest file.")
        first = offsets // block_bytes
        counts = np.where(sizes > 0, (offsets + sizes - 1) // block_bytes - first + 1, 0)
        total = int(counts.sum(dtype=np.float64))
        if total > LARGEST:
            raise UsageError(
                f"The trace has {total:,} accesses to blocks of {bytes_text(block_bytes)}, and "
                f"the limit is {LARGEST:,}. Use a larger --block or a part of the trace."
            )
        ends = counts.cumsum()
        within = np.arange(total) - np.repeat(ends - counts, counts)
        files = self.files.astype(np.uint64) << np.uint64(_FILE_SHIFT)
        blocks = np.repeat(files | first.astype(np.uint64), counts) + within.astype(np.uint64)
        return Trace(blocks, np.repeat(self.kinds, counts), names, block_bytes, seconds)
