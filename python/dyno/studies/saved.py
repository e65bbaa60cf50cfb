"""The state of private engines after a load, kept so that each run can begin from it."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import time
from dataclasses import dataclass
from pathlib import Path

from dyno import places
from dyno.errors import DiskFullError
from dyno.units import bytes_text

ENGINES = "engines"
_SAVED, _COMING = "saved-engines", ".saved-engines.partial"
_PLACES, _REGISTER = "places", "places.json"
_FICLONE = 0x40049409
SPARE_BYTES = 256 << 20
GROWTH = 0.25
"""What runs may add to the data beside the copy of it, as a share of it."""


@dataclass(frozen=True)
class Kept:
    """A state that was kept, or put back.

    Attributes:
        shared: Whether the copy shares its blocks with the data, so that it takes no room.
    """

    size_bytes: int
    seconds: float
    shared: bool


def bytes_of(folder: Path) -> int:
    """What the files below a folder occupy."""
    return sum(
        (Path(place) / name).lstat().st_blocks * 512
        for place, _, names in os.walk(folder)
        for name in names
    )


def keep(out: Path) -> Kept:
    """Keeps what the engines of an output folder hold now; whole, or not at all.

    What they hold on other volumes (``dyno.places``) is kept as well, in the output folder.

    Raises:
        DiskFullError: If a second copy beside the first would not fit; a copy that shares its
            blocks needs no room, but only the file system knows.
    """
    began = time.monotonic()
    elsewhere = _places(out / ENGINES)
    outside = sum(bytes_of(place) for place in elsewhere)
    inside = bytes_of(out / ENGINES)
    shared = shares_blocks(out)
    needed = round((outside + (0 if shared else inside)) + GROWTH * (inside + outside))
    free = shutil.disk_usage(out).free
    if free < needed + SPARE_BYTES:
        raise DiskFullError(
            f"To begin each run from the same data takes {bytes_text(needed + SPARE_BYTES)} more "
            f'in {out}, {bytes_text(free)} are free; free some, or use reset = "restart".'
        )
    forget(out)
    (out / _COMING).mkdir()
    _copy(out / ENGINES, out / _COMING / ENGINES)
    for number, place in enumerate(elsewhere):
        _copy(place, out / _COMING / _PLACES / str(number))
    (out / _COMING / _REGISTER).write_text(json.dumps([str(place) for place in elsewhere]))
    (out / _COMING).rename(out / _SAVED)
    return Kept(inside + outside, time.monotonic() - began, shared and not elsewhere)


def restore(out: Path) -> Kept:
    """Puts it back. Cut off, it is begun again by the next call."""
    began = time.monotonic()
    for number, place in enumerate(_registered(out)):
        shutil.rmtree(place, ignore_errors=True)
        _copy(out / _SAVED / _PLACES / str(number), place)
    shutil.rmtree(out / ENGINES, ignore_errors=True)
    _copy(out / _SAVED / ENGINES, out / ENGINES)
    os.sync()  # what is written back later would be written beside the run
    return Kept(bytes_of(out / ENGINES), time.monotonic() - began, shares_blocks(out))


def forget(out: Path) -> None:
    """Forgets a state, also one whose copy was cut off."""
    shutil.rmtree(out / _COMING, ignore_errors=True)
    shutil.rmtree(out / _SAVED, ignore_errors=True)


def discard(out: Path) -> None:
    """Forgets a state, with what was put back from it, whole or cut off and then without marks."""
    if is_kept(out):
        for place in _registered(out):
            shutil.rmtree(place, ignore_errors=True)
        for item in (out / _SAVED / ENGINES).iterdir():
            there = out / ENGINES / item.name
            if there.is_dir() and not there.is_symlink():
                shutil.rmtree(there, ignore_errors=True)
            else:
                there.unlink(missing_ok=True)
    forget(out)


def is_kept(out: Path) -> bool:
    """Whether there is a state to go back to."""
    return (out / _SAVED).is_dir()


def occupied_bytes(out: Path) -> int:
    """What engines occupy, on other volumes as well, and their state where it shares no blocks."""
    kept = is_kept(out)
    elsewhere = {*_places(out / ENGINES), *(_registered(out) if kept else [])}
    own = bytes_of(out / _SAVED) if kept and not shares_blocks(out) else 0
    return own + sum(map(bytes_of, (out / ENGINES, *elsewhere)))


def shares_blocks(folder: Path) -> bool:
    """Whether copies in a folder share their blocks: Btrfs, XFS, ZFS and others by one call."""
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


def _registered(out: Path) -> list[Path]:
    """Folders on other volumes that a state is of."""
    return [Path(place) for place in json.loads((out / _SAVED / _REGISTER).read_text())]


def _places(engines: Path) -> list[Path]:
    """Folders that the engines have on other volumes."""
    homes = sorted(engines.iterdir()) if engines.is_dir() else []
    return [place for home in homes if home.is_dir() for place in places.own(home)]


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
