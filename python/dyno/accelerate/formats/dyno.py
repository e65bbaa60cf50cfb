"""Records of ``dyno accelerate record``: a row a request that reached a cache's daemon."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from dyno.accelerate.attach import recording
from dyno.accelerate.trace import WRITE, Requests, Trace

ENDINGS = (".dyno.parquet",)

_NAMED = 126
"""The most read files have a name each, the rest one together."""


def read(path: Path, block_bytes: int) -> Trace:
    """The trace in a file; see :class:`dyno.accelerate.formats.Format`."""
    found = recording.read(path)
    paths = found["path"].combine_chunks().dictionary_encode()
    files = paths.indices.to_numpy(zero_copy_only=False).astype(np.int32)
    names = np.array(paths.dictionary.to_pylist(), object)
    writes = found["write"].to_numpy()
    asked = np.bincount(files[~writes], minlength=names.size)
    most = np.argsort(-asked, kind="stable")[:_NAMED]
    kind_of = np.full(names.size, most.size, np.uint8)
    kind_of[most] = np.arange(most.size)
    kinds = (kind_of[files] | np.where(writes, WRITE, 0)).astype(np.uint8)
    times = found["t_ns"].to_numpy()
    seconds = float(times.max() - times.min()) / 1e9 if times.size else None
    offsets, sizes = (found[name].to_numpy() for name in ("offset", "bytes"))
    named = (
        *(str(name) for name in names[most]),
        *(["other files"] if names.size > _NAMED else []),
    )
    return Requests(files, offsets, sizes, kinds).trace(block_bytes, named, seconds)
