"""The binary format of cache research (libCacheSim): time, object, size and next access.

Each object counts as one block, whatever its size.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from dyno.accelerate.trace import LARGEST, Trace
from dyno.errors import UsageError

ENDINGS = (".oraclegeneral", ".oraclegeneral.bin")
ABOUT = "libCacheSim's binary traces"

_ROW = np.dtype([("seconds", "<u4"), ("object", "<u8"), ("bytes", "<u4"), ("next", "<i8")])


def read(path: Path, block_bytes: int) -> Trace:  # noqa: ARG001  (objects count as blocks)
    """The trace in a file; see :class:`dyno.accelerate.formats.Format`."""
    import pyarrow as pa

    with pa.input_stream(path) as stream:
        content = stream.read(_ROW.itemsize * (LARGEST + 1))
    if len(content) % _ROW.itemsize:
        raise UsageError(f"{path} is truncated, or not a trace of this format.")
    rows = np.frombuffer(content, _ROW)
    if rows.size > LARGEST:
        raise UsageError(f"{path} has more than {LARGEST:,} accesses. Use a part of it.")
    blocks = np.ascontiguousarray(rows["object"])
    seconds = float(rows["seconds"][-1]) - float(rows["seconds"][0]) if rows.size else None
    return Trace(blocks, np.zeros(rows.size, np.uint8), ("object",), None, seconds)
