"""Block traces of Microsoft Research Cambridge (SNIA), as comma-separated values.

Columns: time in 100 ns, host, disk, ``Read`` or ``Write``, offset, bytes, response time.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from dyno.accelerate.formats._tables import columns, numbered
from dyno.accelerate.trace import WRITE, Requests, Trace

ENDINGS = (".msr", ".csv")

_COLUMNS = ("time", "host", "disk", "operation", "offset", "bytes", "response")
_WANTED = {
    "time": "int64",
    "disk": "string",
    "operation": "string",
    "offset": "int64",
    "bytes": "int64",
}
_PER_S = 1e7


def read(path: Path, block_bytes: int) -> Trace:
    """The trace in a file; see :class:`dyno.accelerate.formats.Format`."""
    found = columns(path, _COLUMNS, _WANTED)
    times = found["time"].to_numpy()
    disks, names = numbered(found["disk"])
    writes = found["operation"].to_numpy(zero_copy_only=False) == "Write"
    kinds = (disks | np.where(writes, WRITE, 0)).astype(np.uint8)
    requests = Requests(disks, found["offset"].to_numpy(), found["bytes"].to_numpy(), kinds)
    seconds = float(times.max() - times.min()) / _PER_S if times.size else None
    return requests.trace(block_bytes, tuple(f"disk {name}" for name in names), seconds)
