"""The text that ``blkparse`` prints of a ``blktrace`` of Linux.

Requests count as they are issued to the device (action D), after merging.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from dyno.accelerate.formats._tables import matches, numbered
from dyno.accelerate.trace import WRITE, Requests, Trace

ENDINGS = (".blkparse", ".blktrace.txt")

_SECTOR = 512
_LINE = (
    r"^\s*(?P<device>\d+,\d+)\s+\d+\s+\d+\s+(?P<time>\d+\.\d+)\s+\d+\s+D\s+"
    r"F?(?P<operation>[RW])[A-Z]*\s+(?P<sector>\d+) \+ (?P<sectors>\d+)"
)


def read(path: Path, block_bytes: int) -> Trace:
    """The trace in a file; see :class:`dyno.accelerate.formats.Format`."""
    found = matches(path, _LINE)
    times = found["time"].cast("float64").to_numpy()
    devices, names = numbered(found["device"])
    writes = found["operation"].to_numpy(zero_copy_only=False) == "W"
    first, count = (
        found[name].cast("int64").to_numpy() * _SECTOR for name in ("sector", "sectors")
    )
    kinds = (devices | np.where(writes, WRITE, 0)).astype(np.uint8)
    seconds = float(times.max() - times.min()) if times.size else None
    requests = Requests(devices, first, count, kinds)
    return requests.trace(block_bytes, tuple(f"device {name}" for name in names), seconds)
