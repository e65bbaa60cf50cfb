"""The state of private engines after a load, kept so that each run can begin from it."""

from __future__ import annotations

import fcntl
import os
import shutil
from pathlib import Path

from dyno.errors import DiskFullError
from dyno.units import bytes_text

ENGINES = "engines"
_SAVED, _COMING = "saved-engines", ".saved-engines.partial"
_FICLONE = 0x40049409
_SPARE_BYTES = 256 << 20


def bytes_of(folder: Path) -> int:
    """What the files below a folder occupy."""
    return sum(
        (Path(place) / name).lstat().st_blocks * 512
        for place, _, names in os.walk(folder)
        for name in names
    )


def keep(out: Path) -> None:
    """Keeps what the engines of an output folder hold now; whole, or not at all.

    Raises:
        DiskFullError: If a second copy beside the first would not fit; a copy that shares its
            blocks needs no room, but only the file system knows.
    """
    needed = 2 * bytes_of(out / ENGINES)
    free = shutil.disk_usage(out).free
    if free < needed + _SPARE_BYTES and not _shares_blocks(out):
        raise DiskFullError(
            f"To begin each run from the same data takes {bytes_text(needed)} in {out}, "
            f'{bytes_text(free)} are free; free some, or use reset = "restart".'
        )
    shutil.rmtree(out / _COMING, ignore_errors=True)
    shutil.rmtree(out / _SAVED, ignore_errors=True)
    _copy(out / ENGINES, out / _COMING)
    (out / _COMING).rename(out / _SAVED)


def restore(out: Path) -> None:
    """Puts it back. Cut off, it is begun again by the next call."""
    shutil.rmtree(out / ENGINES, ignore_errors=True)
    _copy(out / _SAVED, out / ENGINES)


def is_kept(out: Path) -> bool:
    """Whether there is a state to go back to."""
    return (out / _SAVED).is_dir()


def _copy(source: Path, target: Path) -> None:
    shutil.copytree(source, target, symlinks=True, copy_function=_clone)
    for place, _, _ in os.walk(source):
        _own(Path(place), target / Path(place).relative_to(source))


def _clone(source: str, target: str) -> str:
    """Copies a file, sharing its blocks where the file system can."""
    try:
        with Path(source).open("rb") as one, Path(target).open("wb") as other:
            fcntl.ioctl(other, _FICLONE, one.fileno())
    except OSError:
        shutil.copyfile(source, target)
    shutil.copystat(source, target)
    _own(Path(source), Path(target))
    return target


def _own(source: Path, target: Path) -> None:
    """The same owner, as servers of another user need it; only root can, and only root must."""
    if os.geteuid() == 0:
        status = source.stat()
        os.chown(target, status.st_uid, status.st_gid)


def _shares_blocks(folder: Path) -> bool:
    one, other = folder / ".clone-a", folder / ".clone-b"
    try:
        one.write_bytes(b"x" * 4096)
        with one.open("rb") as source, other.open("wb") as target:
            fcntl.ioctl(target, _FICLONE, source.fileno())
    except OSError:
        return False
    else:
        return True
    finally:
        one.unlink(missing_ok=True)
        other.unlink(missing_ok=True)
