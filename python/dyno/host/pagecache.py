"""The kernel's cache of files: how much of them is in it, and emptying it of them with proof."""

from __future__ import annotations

import ctypes
import mmap
import os
import stat
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from dyno.contracts.cold import Emptied
from dyno.errors import TargetError
from dyno.host.files import read_text
from dyno.host.mounts import mount_of, parse_mountinfo
from dyno.host.storage import OWN_CACHE, fs_kind

WORST_SHARE = 0.01
"""More than this share of the files still in memory, and nothing is called cold."""

_PAGE = mmap.PAGESIZE
_CHUNK = 1 << 30
_TRIES = 5
_PAUSE_S = 0.05
_DROP = Path("/proc/sys/vm/drop_caches")


def files_under(places: Iterable[Path]) -> list[Path]:
    """All regular files in the places, also behind links (tablespaces, the log); each once."""
    found: dict[tuple[int, int], Path] = {}
    for place in places:
        walked: set[tuple[int, int]] = set()
        if place.is_file():
            _add(found, place)
        for folder, inner, names in os.walk(place, followlinks=True):
            facts = Path(folder).stat()
            if (facts.st_dev, facts.st_ino) in walked:
                inner.clear()
                continue
            walked.add((facts.st_dev, facts.st_ino))
            for name in names:
                _add(found, Path(folder, name))
    return list(found.values())


def resident_bytes(files: Iterable[Path]) -> int:
    """What of the files is in memory, by mincore(2), in whole pages.

    The kernel reports it for files that this user may write; for others it reports all pages.

    Raises:
        TargetError: If a file cannot be looked at.
    """
    return sum(_resident(file) for file in files)


def empty(files: Sequence[Path]) -> Emptied:
    """Writes the files out and puts them out of the page cache.

    Nobody may have them open. Caches below the file system (of the device, of a hypervisor) are
    out of reach, and a file system whose cache cannot be seen is refused.

    Raises:
        TargetError: If it cannot be proven that at most 1 % is left in memory, saying why.
    """
    whole = [file for file in files if file.stat().st_size]
    types = _require_visible(whole)
    before = resident_bytes(whole)
    size = sum(file.stat().st_size for file in whole)
    left, how = before, "posix_fadvise"
    for attempt in range(_TRIES):
        if attempt:
            time.sleep(_PAUSE_S)  # pages under way to the device cannot be dropped yet
        for file in whole:
            _advise(file)
        left = resident_bytes(whole)
        if left <= size * WORST_SHARE:
            break
    else:
        if _drop_all():
            how = "drop_caches"
            left = resident_bytes(whole)
    found = Emptied(len(whole), size, before, left, how, types)
    if found.left_share > WORST_SHARE:
        raise TargetError(
            f"Cannot start cold: {found.left_share:.1%} of the data is still in memory after "
            f"Dyno dropped it from the page cache ({types}); another program may have the "
            "files open. Run without --cold.",
            kind="busy",
        )
    return found


def _require_visible(files: Sequence[Path]) -> str:
    """Refuses file systems whose cache cannot be emptied or seen; returns their types.

    Raises:
        TargetError: With the reason.
    """
    mounts = parse_mountinfo(read_text(Path("/proc/self/mountinfo")) or "")
    types: dict[str, Path] = {}
    for file in files:
        mount = mount_of(file.resolve(), mounts)
        types.setdefault(mount.fs_type if mount else "unknown", file)
    for name, file in types.items():
        kind = fs_kind(name)
        reason = OWN_CACHE.get(name)
        if kind == "memory":
            reason = f"{name} is memory"
        elif kind in {"network", "user"}:
            reason = f"the server of {name} also caches"
        if reason:
            raise TargetError(
                f"Cannot start cold: {file.parent} is on {name}, and {reason}. Put the data on "
                "a local disk, or run without --cold.",
                kind="io",
            )
    for file in types.values():
        _require_seen(file)
    return ", ".join(sorted(types))


def _require_seen(file: Path) -> None:
    """A page that was just read must be seen in memory, or its absence would prove nothing.

    Raises:
        TargetError: If it is not.
    """
    with file.open("rb", buffering=0) as opened:
        opened.read(_PAGE)
    if _resident(file) == 0:
        raise TargetError(
            f"Cannot start cold: the page cache of {file.parent} is not visible, so Dyno "
            "cannot verify that it is empty. Run without --cold.",
            kind="io",
        )


def _add(found: dict[tuple[int, int], Path], file: Path) -> None:
    try:
        facts = file.stat()
    except OSError:
        return  # a link to nowhere
    if stat.S_ISREG(facts.st_mode):
        found.setdefault((facts.st_dev, facts.st_ino), file)


def _advise(file: Path) -> None:
    descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)  # dirty pages stay
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(descriptor)


def _drop_all() -> bool:
    try:
        os.sync()
        _DROP.write_text("1\n", encoding="ascii")
    except OSError:
        return False
    return True


_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.mmap.restype = ctypes.c_void_p
_LIBC.mmap.argtypes = [
    ctypes.c_void_p,
    ctypes.c_size_t,
    ctypes.c_int,
    ctypes.c_int,
    ctypes.c_int,
    ctypes.c_long,
]
_LIBC.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
_LIBC.mincore.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p]
_FAILED = ctypes.c_void_p(-1).value
_LOWEST_BIT = bytes(number & 1 for number in range(256))
"""mincore(2) leaves the other bits undefined."""


def _resident(file: Path) -> int:
    descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
    try:
        size = os.fstat(descriptor).st_size
        return sum(
            _resident_part(file, descriptor, offset, min(_CHUNK, size - offset))
            for offset in range(0, size, _CHUNK)
        )
    finally:
        os.close(descriptor)


def _resident_part(file: Path, descriptor: int, offset: int, length: int) -> int:
    """Mapping a file reads nothing; only touching the mapping would."""
    address = _LIBC.mmap(None, length, mmap.PROT_READ, mmap.MAP_SHARED, descriptor, offset)
    if address == _FAILED:
        raise _unseen(file)
    try:
        pages = ctypes.create_string_buffer(-(-length // _PAGE))
        if _LIBC.mincore(address, length, pages) != 0:
            raise _unseen(file)
        return pages.raw.translate(_LOWEST_BIT).count(1) * _PAGE
    finally:
        _LIBC.munmap(address, length)


def _unseen(file: Path) -> TargetError:
    reason = os.strerror(ctypes.get_errno())
    return TargetError(f"Cannot start cold: cannot inspect {file}: {reason}.", kind="io")
