"""What was asked of an attached folder: a record by its daemon, as a table; and prewarming by it.

See ``crates/dyno-cache/src/mount/recording.rs`` and ``Volume::prewarm``.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import struct
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from dyno.accelerate.attach import folder
from dyno.errors import TargetError, UsageError
from dyno.runtime.progress import Progress
from dyno.safety import bounded, safefiles

if TYPE_CHECKING:
    from numpy.typing import NDArray

SCHEMA = pa.schema(
    {
        "t_ns": pa.int64(),
        "path": pa.dictionary(pa.int32(), pa.string()),
        "relation": pa.dictionary(pa.int32(), pa.string()),
        "offset": pa.int64(),
        "bytes": pa.int64(),
        "write": pa.bool_(),
    }
)
"""A row a request that reached the daemon; what the page cache served did not. ``relation`` is what
the database has in the file, if it was asked."""

IN_BUNDLE = "flash.dyno.parquet"
"""The record of a run in its bundle."""

MIB, BLOCK = 1 << 20, 8192
_WRITE = np.uint64(1 << 63)
_PREWARM = 0x40104401
_TABLE_LIMIT = 1 << 30
_START_S = 10.0
_STEP_S = 0.2
_SETTLE_S = 1.5
"""The daemon looks every second."""


def record(cache: Path, seconds: float, progress: Progress) -> None:
    """Lets the daemon of a cache record for some seconds; :func:`write` takes the record.

    Raises:
        UsageError: If it records already.
        TargetError: If it does not begin.
    """
    with recorded(cache):
        begun = time.monotonic()
        while (passed := time.monotonic() - begun) < seconds:
            progress.update(passed, seconds)
            time.sleep(min(_STEP_S, seconds - passed))


@contextlib.contextmanager
def recorded(cache: Path) -> Generator[None]:
    """Lets the daemon of a cache record meanwhile; :func:`write` takes the record.

    Raises:
        UsageError: If it records already.
        TargetError: If it does not begin.
    """
    asked, trace = cache / folder.RECORD, cache / folder.TRACE
    if asked.exists():
        raise UsageError(f"{cache} is being recorded already.")
    trace.unlink(missing_ok=True)
    asked.touch()
    try:
        begun = time.monotonic()
        while not trace.exists():
            if time.monotonic() - begun > _START_S:
                raise TargetError(f"The daemon of {cache} does not record; see its log.", kind="io")
            time.sleep(_STEP_S)
        yield
    finally:
        asked.unlink()


def write(cache: Path, to: Path, relations: Callable[[str], str | None] = lambda _: None) -> int:
    """Writes what was recorded as a Parquet file, removes the record, and returns its requests.

    Args:
        cache: The folder of the cache.
        to: The file.
        relations: What the database has in a file, by its path.

    Raises:
        OSError: If it cannot be written.
    """
    # The daemon writes the rest out when it sees that nobody asks any more.
    size = -1
    while size != (cache / folder.TRACE).stat().st_size:
        size = (cache / folder.TRACE).stat().st_size
        time.sleep(_SETTLE_S)
    raw = np.fromfile(cache / folder.TRACE, np.uint64)
    times, files, offsets, sizes = raw[: raw.size // 4 * 4].reshape(-1, 4).T
    numbers, places = np.unique(files & ~_WRITE, return_inverse=True)
    known = _paths(cache)
    names = [known.get(int(number), f"file {number}") for number in numbers]
    table = pa.table(
        [
            pa.array(times.astype(np.int64)),
            _named(places, names),
            _named(places, [relations(name) for name in names]),
            pa.array(offsets.astype(np.int64)),
            pa.array(sizes.astype(np.int64)),
            pa.array((files & _WRITE) != 0),
        ],
        schema=SCHEMA,
    )
    with safefiles.replacing(to, follow=True) as file:
        pq.write_table(table, file)
    (cache / folder.TRACE).unlink()
    return table.num_rows


def _named(places: NDArray[np.intp], names: Sequence[str | None]) -> pa.DictionaryArray:
    """A name for each request, by the place of its file; nulls where a file has none."""
    known = [name for name in dict.fromkeys(names) if name is not None]
    numbers = {name: number for number, name in enumerate(known)}
    number_of = [None if name is None else numbers[name] for name in names]
    indices = pa.array(number_of, pa.int32()).take(pa.array(places))
    return pa.DictionaryArray.from_arrays(indices, pa.array(known, pa.string()))


def _paths(cache: Path) -> dict[int, str]:
    """Paths of files by number, as far as the table of files knows them."""
    found: dict[int, str] = {}
    with safefiles.open_regular(cache / "files.jsonl", limit=_TABLE_LIMIT) as lines:
        for line in lines:
            # The daemon leaves out empty lines and those that a full device cut off, too.
            with contextlib.suppress(ValueError):
                if (known := json.loads(line).get("known")) is not None:
                    found[known["number"]] = known["path"]
    return found


def read(path: Path) -> pa.Table:
    """A record, with :data:`SCHEMA`, but for names as plain text.

    Raises:
        UsageError: If it is none, or is damaged.
        OSError: If it cannot be read.
    """
    with safefiles.open_regular(path) as file:
        found = bounded.read_parquet(file, path, SCHEMA.names)
    texts = ("path", "relation")
    plain = pa.schema(
        [(one.name, pa.string() if one.name in texts else one.type) for one in SCHEMA]
    )
    if "relation" not in found.column_names:  # as earlier versions wrote it
        found = found.append_column("relation", pa.nulls(found.num_rows, pa.string()))
    if set(found.column_names) != set(plain.names):
        raise UsageError(f"{path} is no record of `dyno accelerate record`.")
    try:
        found = found.select(plain.names).cast(plain)
        known = [found[name].is_valid().to_numpy() for name in plain.names if name != "relation"]
        return found.filter(pa.array(np.logical_and.reduce(known)))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise UsageError(f"{path} is no record of `dyno accelerate record`.") from error


@dataclass(frozen=True)
class Piece:
    """A range of a file of at most 1 MiB."""

    path: str
    offset: int


def pieces_of(trace: Path) -> list[Piece]:
    """The pieces of files that a record has reads of, by file and place.

    Raises:
        UsageError: If it is no record.
        OSError: If it cannot be read.
    """
    found = read(trace)
    reads = found.filter(pa.array(~found["write"].to_numpy()))
    paths = reads["path"].to_pylist()
    offsets, sizes = (reads[name].to_numpy() for name in ("offset", "bytes"))
    wanted = {
        (path, piece)
        for path, offset, size in zip(paths, offsets.tolist(), sizes.tolist(), strict=True)
        for piece in range(offset // MIB, (offset + max(size, 1) - 1) // MIB + 1)
    }
    return [Piece(path, piece * MIB) for path, piece in sorted(wanted)]


def pieces_in(origin: Path, places: Iterable[Path]) -> list[Piece]:
    """All pieces of the files at or below some places of an attached folder."""
    files = sorted({file for place in places for file in _files(place)})
    return [
        Piece(str(file.relative_to(origin)), offset)
        for file in files
        for offset in range(0, file.stat().st_size, MIB)
    ]


def _files(place: Path) -> Iterator[Path]:
    if place.is_dir():
        yield from (one for one in place.rglob("*") if one.is_file() and not one.is_symlink())
    elif place.is_file():
        yield place


def prewarm(origin: Path, pieces: list[Piece], progress: Progress) -> int:
    """Lets the daemon cache pieces of files; returns how many blocks it added.

    Files that are gone, or not cached, are left out.
    """
    added = 0
    name, fd = "", -1
    try:
        for number, piece in enumerate(pieces):
            progress.update(number, len(pieces), piece.path)
            if piece.path != name:
                if fd >= 0:
                    os.close(fd)
                name, fd = piece.path, _opened(origin, piece.path)
            if fd >= 0:
                added += _ask(fd, piece.offset)
    finally:
        if fd >= 0:
            os.close(fd)
    return added


def _opened(origin: Path, path: str) -> int:
    """A descriptor of a file below ``origin``; -1 if there is none."""
    if path.startswith("/") or ".." in Path(path).parts:
        return -1
    try:
        return os.open(origin / path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return -1


def _ask(fd: int, offset: int) -> int:
    try:
        return fcntl.ioctl(fd, _PREWARM, bytearray(struct.pack("<QQ", offset, MIB)))
    except OSError:  # not of a kind that is cached, or damaged
        return 0
