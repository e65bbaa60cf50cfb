"""Volume facts for settings: the device under a folder and its free space.

Free space changes between runs, and settings must not. So it is rounded down to a power of two,
and the first start in an engine's folder stores it for later ones. A study passes the same value to
all of its runs (:mod:`dyno.studies.space`).
"""

from __future__ import annotations

import contextlib
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

SPACE = "DYNO_SPACE_BYTES"
"""Environment variable with the free space for the runs of a study."""

_NOTE = "space"
_LONGEST = 20
_SHRUNK = 4
"""A stored value expires if less than 1/4 of it is free, because the log would not fit."""


@dataclass(frozen=True)
class VolumeFacts:
    """Facts about a volume.

    Attributes:
        rotational: Whether the device is rotational; None if the kernel does not know, as for a
            paravirtual disk, which always reports true.
        space_bytes: Free space for unprivileged users, rounded down to a power of two.
        shared_memory_bytes: Size of ``/dev/shm``, which is often very small in containers.
    """

    rotational: bool | None
    space_bytes: int
    shared_memory_bytes: int

    @classmethod
    def of(cls, folder: Path) -> VolumeFacts:
        """The current facts about the volume of ``folder``."""
        return cls(_rotational(folder), space_now(folder), _shared_memory())

    @classmethod
    def noted(cls, home: Path) -> VolumeFacts:
        """The facts for the settings of an engine in ``home``, stable between starts.

        Raises:
            OSError: If they cannot be stored.
        """
        given = _number(os.environ.get(SPACE, ""))
        space = _noted_space(home) if given is None else given
        return cls(_rotational(home), space, _shared_memory())


def space_now(folder: Path) -> int:
    """Free bytes for unprivileged users, rounded down to a power of two."""
    return rounded(shutil.disk_usage(folder).free)


def rounded(size: int) -> int:
    """``size`` rounded down to a power of two; 0 stays 0."""
    return 1 << size.bit_length() - 1 if size > 0 else 0


def read_note(path: Path) -> int | None:
    """The stored bytes; None if there are none, or Dyno did not write them."""
    try:
        note = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(note, "rb") as file:
            return _number(file.read(_LONGEST + 1).decode("ascii", "replace"))
    except OSError:
        return None


def write_note(path: Path, size: int) -> None:
    """Stores bytes; replaces the old value and follows no link.

    Raises:
        OSError: If it cannot be written.
    """
    with contextlib.suppress(FileNotFoundError):
        path.unlink()
    note = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(note, "wb") as file:
        file.write(str(size).encode())


def _noted_space(home: Path) -> int:
    now, noted = space_now(home), read_note(home / _NOTE)
    if noted is not None and now * _SHRUNK >= noted:
        return noted
    write_note(home / _NOTE, now)
    return now


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= _LONGEST else None


def _rotational(folder: Path) -> bool | None:
    number = folder.stat().st_dev
    device = Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}").resolve()
    if any(part.startswith(("virtio", "vbd-")) for part in device.parts):
        return None
    # A partition has no queue directory; its disk is the parent folder.
    for place in (device / "queue", device.parent / "queue"):
        try:
            return (place / "rotational").read_text(encoding="ascii").strip() == "1"
        except OSError:
            continue
    return None


def _shared_memory() -> int:
    try:
        return shutil.disk_usage("/dev/shm").total  # noqa: S108
    except OSError:
        return 0
