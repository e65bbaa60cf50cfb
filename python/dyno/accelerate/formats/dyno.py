"""Records of ``dyno accelerate record``: a row a request that reached a cache's daemon."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from dyno.accelerate.attach import recording
from dyno.accelerate.trace import WRITE, Requests, Trace

ENDINGS = (".dyno.parquet",)

_NAMED = 126
"""The most read files or relations have a name each, the rest one together."""


def _encoded(texts: pa.ChunkedArray) -> tuple[NDArray[np.int32], NDArray[np.object_]]:
    """Numbers of texts, and the texts by number."""
    found = texts.combine_chunks().dictionary_encode()
    numbers = found.indices.to_numpy(zero_copy_only=False).astype(np.int32)
    return numbers, np.array(found.dictionary.to_pylist(), object)


def read(path: Path, block_bytes: int) -> Trace:
    """The trace in a file; see :class:`dyno.accelerate.formats.Format`."""
    found = recording.read(path)
    files, _ = _encoded(found["path"])
    shown, names = _encoded(pc.call_function("coalesce", [found["relation"], found["path"]]))
    writes = found["write"].to_numpy()
    asked = np.bincount(shown[~writes], minlength=names.size)
    most = np.argsort(-asked, kind="stable")[:_NAMED]
    kind_of = np.full(names.size, most.size, np.uint8)
    kind_of[most] = np.arange(most.size)
    kinds = (kind_of[shown] | np.where(writes, WRITE, 0)).astype(np.uint8)
    times = found["t_ns"].to_numpy()
    seconds = float(times.max() - times.min()) / 1e9 if times.size else None
    offsets, sizes = (found[name].to_numpy() for name in ("offset", "bytes"))
    named = (
        *(str(name) for name in names[most]),
        *(["other files"] if names.size > _NAMED else []),
    )
    return Requests(files, offsets, sizes, kinds).trace(block_bytes, named, seconds)
