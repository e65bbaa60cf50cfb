"""The binary format of cache research (libCacheSim): time, object, size and next access.

Each object counts as one block, whatever its size.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dyno.accelerate.trace import LARGEST, Trace
from dyno.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

ENDINGS = (".oraclegeneral", ".oraclegeneral.bin")

_AT_ONCE = 1 << 20
_ROW = np.dtype([("seconds", "<u4"), ("object", "<u8"), ("bytes", "<u4"), ("next", "<i8")])


def read(path: Path, block_bytes: int) -> Trace:  # noqa: ARG001  (objects count as blocks)
    """The trace in a file; see :class:`dyno.accelerate.formats.Format`."""
    import pyarrow as pa

    blocks: list[NDArray[np.uint64]] = []
    times: list[int] = []
    count = 0
    with pa.input_stream(path) as stream:
        while content := stream.read(_ROW.itemsize * _AT_ONCE):
            if len(content) % _ROW.itemsize:
                raise UsageError(f"{path} is truncated, or not a trace of this format.")
            rows = np.frombuffer(content, _ROW)
            count += rows.size
            if count > LARGEST:
                raise UsageError(f"{path} has more than {LARGEST:,} accesses. Use a part of it.")
            blocks.append(rows["object"].copy())
            times += [int(rows["seconds"][0]), int(rows["seconds"][-1])]
    if not blocks:
        raise UsageError(f"{path} is empty.")
    kinds = np.zeros(count, np.uint8)
    return Trace(np.concatenate(blocks), kinds, ("object",), None, float(times[-1] - times[0]))
