"""Logs of I/O that fio writes (``write_iolog=``), versions 2 and 3."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from dyno.accelerate.formats._tables import matches, numbered
from dyno.accelerate.trace import WRITE, Requests, Trace

ENDINGS = (".iolog", ".fiolog")

_LINE = (
    r"^(?:(?P<time>\d+) )?(?P<file>\S+) (?P<operation>read|write) (?P<offset>\d+) (?P<bytes>\d+)$"
)


def read(path: Path, block_bytes: int) -> Trace:
    """The trace in a file; see :class:`dyno.accelerate.formats.Format`."""
    found = matches(path, _LINE)
    files, names = numbered(found["file"])
    writes = found["operation"].to_numpy(zero_copy_only=False) == "write"
    offsets, sizes = (found[name].cast("int64").to_numpy() for name in ("offset", "bytes"))
    kinds = (files | np.where(writes, WRITE, 0)).astype(np.uint8)
    return Requests(files, offsets, sizes, kinds).trace(block_bytes, names, None)
