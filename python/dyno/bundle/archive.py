"""Packs a bundle into a ``.tar.gz`` file to share. Archives of others are untrusted input."""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import re
import tarfile
import tempfile
import zlib
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from dyno.bundle.members import content, is_folder, is_member
from dyno.bundle.model import RUN_ID
from dyno.bundle.reader import Bundle
from dyno.bundle.writer import file_error
from dyno.errors import UsageError
from dyno.safety.safefiles import open_regular, replacing

MOST_FILES = 10_000
MOST_BYTES = 4 << 30
"""Limit of the total size of all unpacked files."""

_MOST_RATIO, _ALWAYS_BYTES = 100, 64 << 20
"""Limit of the unpacked size: the second value plus the first times the archive size."""

_BLOCK = tarfile.BLOCKSIZE
_CHUNK = 1 << 20
_LONGEST_EXTRA = 1 << 20
_EXTRAS = (tarfile.XHDTYPE, tarfile.XGLTYPE)
"""Times and owners that other programs add before a file. They are skipped."""


def write(bundle: Bundle, to: Path) -> list[Path]:
    """Packs the files of a bundle that Dyno wrote, without user names.

    Returns:
        The paths left out: links, and files that Dyno did not write.

    Raises:
        UsageError: If ``to`` exists and is not a regular file, or the bundle exceeds the archive
            limit.
        DiskFullError, TargetError: If it cannot be written.
    """
    try:
        found = content(bundle.path)
        if len(found.members) > MOST_FILES or sum(found.members.values()) > MOST_BYTES:
            raise UsageError(
                f"{bundle.path} is too large for an archive: at most {MOST_FILES:,} files and "
                f"{MOST_BYTES:,} bytes."
            )
        with (
            replacing(to, follow=True) as file,
            tarfile.open(fileobj=file, mode="w:gz", format=tarfile.USTAR_FORMAT) as packed,
        ):
            for name in found.members:
                _add(packed, bundle, name)
    except (ValueError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise file_error(error, to) from error
        raise UsageError(f"{bundle.path} cannot be packed: {error}.") from error
    return [bundle.path / name for name in found.others]


@contextlib.contextmanager
def opened(archive: Path) -> Generator[Bundle]:
    """Opens the bundle in an archive, unpacked to a private temporary folder within the block.

    Unpacks only regular files with names that Dyno writes, each once, within the limits.

    Raises:
        UsageError: If it is not an archive of a bundle, is damaged, or exceeds a limit.
        DiskFullError, TargetError: If it cannot be unpacked.
    """
    with tempfile.TemporaryDirectory(prefix="dyno-") as folder:
        try:
            with open_regular(archive.resolve()) as file:
                path = _unpack(file, Path(folder))
        except _Refused as error:
            raise UsageError(f"{archive} is not opened: {error}.") from error
        except (tarfile.TarError, gzip.BadGzipFile, zlib.error, EOFError, UnicodeError) as error:
            reason = str(error).rstrip(".") or "it is cut off"
            raise UsageError(
                f"{archive} is not an archive that `dyno runs export` wrote, or it is damaged: "
                f"{reason}."
            ) from error
        except OSError as error:
            raise file_error(error, Path(folder)) from error
        try:
            found = Bundle.open(path)
        except UsageError as error:
            raise UsageError(f"{archive} is not opened: {error}") from error
        if found.run.run != path.name:
            raise UsageError(f"{archive} is not opened: its folder is not named like its run.")
        yield Bundle(found.path, found.run, archive)


def _add(packed: tarfile.TarFile, bundle: Bundle, name: str) -> None:
    with open_regular(bundle.path / name, below=bundle.path) as file:
        status = os.fstat(file.fileno())
        info = tarfile.TarInfo(f"{bundle.run.run}/{name}")
        info.size, info.mtime, info.mode = status.st_size, int(status.st_mtime), 0o644
        packed.addfile(info, file)


class _Refused(Exception):  # noqa: N818  (a reason in words, for the error that is raised)
    """The reason to reject an archive."""


@dataclass
class _Stream:
    """The decompressed stream, up to a limit."""

    file: io.BufferedIOBase | BinaryIO
    left: int

    def read(self, size: int) -> bytes:
        """Returns exactly ``size`` bytes.

        Raises:
            EOFError: If there are fewer.
        """
        found = self.some(size)
        while len(found) < size:
            more = self.some(size - len(found))
            if not more:
                raise EOFError
            found += more
        return found

    def some(self, size: int) -> bytes:
        """Returns at most ``size`` bytes; none at the end."""
        found = self.file.read(size)
        self.left -= len(found)
        if self.left < 0:
            raise _Refused("it unpacks to too many bytes")
        return found

    def pieces(self, size: int) -> Iterator[bytes]:
        """Yields ``size`` bytes in chunks and skips the padding of the last block."""
        for at in range(0, size, _CHUNK):
            yield self.read(min(_CHUNK, size - at))
        self.read(-size % _BLOCK)


def _unpack(file: BinaryIO, folder: Path) -> Path:
    """Unpacks into an empty folder. Returns the bundle folder."""
    packed = os.fstat(file.fileno()).st_size
    most = min(MOST_BYTES, _ALWAYS_BYTES + _MOST_RATIO * packed)
    top: Path | None = None
    with gzip.GzipFile(fileobj=file) as plain:
        # The limit for file contents excludes headers.
        stream = _Stream(plain, most + 4 * _BLOCK * MOST_FILES)
        seen: set[str] = set()
        for info in _headers(stream):
            run, name = _parted(info)
            if info.isdir():
                continue
            top = top or folder / run
            if run != top.name or name in seen:
                raise _Refused(f"{info.name!a} is in it twice, or in a second folder")
            if not is_member(name):
                raise _Refused(f"{info.name!a} does not belong in a bundle")
            seen.add(name)
            if len(seen) > MOST_FILES:
                raise _Refused(f"it holds more than {MOST_FILES:,} files")
            if info.size > most:
                raise _Refused("it unpacks to too many bytes")
            _write(top / name, stream.pieces(info.size))
        while rest := stream.some(_CHUNK):  # reads the trailing zeros and the checksum
            if rest.strip(b"\0"):
                raise _Refused("there is more after its end")
    if top is None:
        raise _Refused("it holds no bundle")
    return top


def _headers(stream: _Stream) -> Iterator[tarfile.TarInfo]:
    """Yields files and folders. The caller reads the content of a file before the next."""
    for _ in range(2 * MOST_FILES):
        block = stream.read(_BLOCK)
        if not block.strip(b"\0"):
            return
        info = tarfile.TarInfo.frombuf(block, "utf-8", "strict")
        if info.size < 0 or (info.isdir() and info.size):
            raise _Refused(f"{info.name!a} has an impossible size")
        if info.type in _EXTRAS and info.size <= _LONGEST_EXTRA:
            for _piece in stream.pieces(info.size):
                pass
        elif info.isdir() or info.type in (tarfile.REGTYPE, tarfile.AREGTYPE):
            yield info
        else:
            raise _Refused(f"{info.name[:99]!a} is not a regular file")
    raise _Refused(f"it holds more than {2 * MOST_FILES:,} entries")


def _parted(info: tarfile.TarInfo) -> tuple[str, str]:
    """Returns the run id and the name within the bundle, which is empty for the bundle folder."""
    parts = PurePosixPath(info.name).parts
    if not parts and info.isdir():  # "./"
        return "", ""
    name = "/".join(parts[1:])
    inside = not name or is_folder(name) if info.isdir() else bool(name)
    if not parts or re.fullmatch(RUN_ID, parts[0]) is None or ".." in parts or not inside:
        raise _Refused(f"{info.name[:99]!a} is not a valid name in a bundle")
    return parts[0], name


def _write(path: Path, pieces: Iterator[bytes]) -> None:
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with path.open("xb") as file:
            for piece in pieces:
                file.write(piece)
    except (FileExistsError, NotADirectoryError) as error:
        raise _Refused(f"{path.name!a} is both a file and a folder") from error
