"""The saved state of private engines after a load, so that each run can start from it."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from dyno.accelerate.attach import leftover
from dyno.config.units import bytes_text
from dyno.errors import DiskFullError, TargetError
from dyno.safety.safefiles import is_own_folder, own_text
from dyno.workspace import places

ENGINES = "engines"
_SAVED, _COMING = "saved-engines", ".saved-engines.partial"
_PLACES, _REGISTER = "places", "places.json"
_FICLONE = 0x40049409
_LONGEST_REGISTER = 1 << 20
SPARE_BYTES = 256 << 20
GROWTH = 0.25
"""Allowed growth of the data during runs, as a share of its size, in addition to the copy."""


@dataclass(frozen=True)
class Kept:
    """A saved or restored state.

    Attributes:
        shared: Whether the copy shares its blocks with the data and so takes no space.
    """

    size_bytes: int
    seconds: float
    shared: bool


def bytes_of(folder: Path) -> int:
    """Bytes that the files below a folder occupy."""
    return sum(
        (Path(place) / name).lstat().st_blocks * 512
        for place, _, names in os.walk(folder)
        for name in names
    )


def keep(out: Path) -> Kept:
    """Saves the current state of the engines of an output folder, completely or not at all.

    Their files on other volumes (``dyno.workspace.places``) are also saved in the output folder.

    Raises:
        DiskFullError: If a full copy would not fit. A copy with shared blocks needs no space, but
            only the file system knows that.
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
            f"The saved state needs {bytes_text(needed + SPARE_BYTES)} more in {out}; "
            f'{bytes_text(free)} are free. Free space, or use reset = "restart".'
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
    """Restores the state. After an interruption, the next call starts again."""
    began = time.monotonic()
    leftover.detach_all(out / ENGINES)
    kept = {place for _, _, place in _registered(out)}
    for home in _entries(out / ENGINES):
        # Such as that of a cache, of which the state knows nothing.
        places.release(home.resolve(), set(places.own(home.resolve())) - kept)
    for number, home, place in _registered(out):
        _put_back(out / _SAVED / _PLACES / str(number), place, home)
    shutil.rmtree(out / ENGINES, ignore_errors=True)
    _copy(out / _SAVED / ENGINES, out / ENGINES)
    os.sync()  # otherwise writeback would overlap with the run
    return Kept(bytes_of(out / ENGINES), time.monotonic() - began, shares_blocks(out))


def forget(out: Path) -> None:
    """Removes a state, including an incomplete copy."""
    shutil.rmtree(out / _COMING, ignore_errors=True)
    shutil.rmtree(out / _SAVED, ignore_errors=True)


def discard(out: Path) -> None:
    """Removes a state and the data restored from it, complete or not."""
    if is_kept(out):
        leftover.detach_all(out / ENGINES)
        for _, home, place in _registered(out):
            places.release(home, [place])
        inside = is_own_folder(out / ENGINES)
        for item in (out / _SAVED / ENGINES).iterdir() if inside else ():
            there = out / ENGINES / item.name
            if there.is_dir() and not there.is_symlink():
                shutil.rmtree(there, ignore_errors=True)
            else:
                there.unlink(missing_ok=True)
    forget(out)


def is_kept(out: Path) -> bool:
    """Whether there is a saved state."""
    return is_own_folder(out / _SAVED)


def occupied_bytes(out: Path) -> int:
    """Bytes of the engines, including other volumes, and of their state unless it shares blocks."""
    kept = is_kept(out)
    elsewhere = {*_places(out / ENGINES), *(place for _, _, place in _registered(out) if kept)}
    own = bytes_of(out / _SAVED) if kept and not shares_blocks(out) else 0
    return own + sum(map(bytes_of, (out / ENGINES, *elsewhere)))


def shares_blocks(folder: Path) -> bool:
    """Whether copies in a folder share blocks: Btrfs, XFS, ZFS and others, by the same call."""
    try:
        with (
            tempfile.TemporaryFile(dir=folder) as source,
            tempfile.TemporaryFile(dir=folder) as target,
        ):
            source.write(b"x" * 4096)
            source.flush()
            fcntl.ioctl(target, _FICLONE, source.fileno())
    except OSError:
        return False
    return True


def _registered(out: Path) -> list[tuple[int, Path, Path]]:
    """Folders of a state on other volumes: number, engine folder, folder there.

    Includes only folders named after one of its engines, because a foreign register may name any
    folder.
    """
    try:
        listed = json.loads(own_text(out / _SAVED / _REGISTER, _LONGEST_REGISTER) or "[]")
    except ValueError:
        return []
    homes = [(out / ENGINES / item.name).resolve() for item in _entries(out / _SAVED / ENGINES)]
    named = {places.name_of(home): home for home in homes}
    found = [(number, Path(item)) for number, item in enumerate(listed) if isinstance(item, str)]
    return [(number, named[at.name], at) for number, at in found if at.name in named]


def _places(engines: Path) -> list[Path]:
    """The engines' folders on other volumes."""
    homes = [home.resolve() for home in _entries(engines) if is_own_folder(home)]
    return [place for home in homes for place in places.own(home)]


def _entries(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if is_own_folder(folder) else []


def _put_back(source: Path, place: Path, home: Path) -> None:
    """Restores an engine's files on a volume; marks the folder first, against a kill.

    Raises:
        TargetError: If the folder holds something that Dyno did not create.
    """
    places.release(home, [place])
    try:
        with contextlib.suppress(OSError):
            place.rmdir()  # left by a kill before the mark
        place.mkdir(mode=0o700)
        places.mark(place, home)
    except OSError as error:
        message = f"{place} is not Dyno's, or cannot be made: {error.strerror}. Move it away."
        raise TargetError(message, kind="io") from error
    _copy(source, place)


def _copy(source: Path, target: Path) -> None:
    there = target / places.MARKER
    marked = there.exists()  # overwriting it would leave it empty for a moment

    def others(folder: str, _: list[str]) -> list[str]:
        return [there.name] if marked and Path(folder) == source else []

    shutil.copytree(
        source, target, symlinks=True, copy_function=_clone, ignore=others, dirs_exist_ok=marked
    )
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
    """Copies the owner, as a server under another user needs it; only root can do this."""
    if os.geteuid() == 0:
        status = source.stat()
        os.chown(target, status.st_uid, status.st_gid)
