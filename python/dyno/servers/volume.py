"""What settings depend on: the device under a folder and the room on it."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class VolumeFacts:
    """A place on storage.

    Attributes:
        rotational: Whether the device turns; None where the kernel does not know, as of a
            paravirtual disk, which claims to turn whatever lies under it.
        free_bytes: Room for ordinary users.
        shared_memory_bytes: Room in ``/dev/shm``, which containers often keep very small.
    """

    rotational: bool | None
    free_bytes: int
    shared_memory_bytes: int

    @classmethod
    def of(cls, folder: Path) -> VolumeFacts:
        """The facts about the volume that holds ``folder``."""
        return cls(_rotational(folder), shutil.disk_usage(folder).free, _shared_memory())


def _rotational(folder: Path) -> bool | None:
    number = folder.stat().st_dev
    device = Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}").resolve()
    if any(part.startswith(("virtio", "vbd-")) for part in device.parts):
        return None
    # A partition has no queue of its own; its disk is the folder above.
    for place in (device / "queue", device.parent / "queue"):
        try:
            return (place / "rotational").read_text(encoding="ascii").strip() == "1"
        except OSError:
            continue
    return None


def _shared_memory() -> int:
    try:
        return shutil.disk_usage("/dev/shm").free  # noqa: S108
    except OSError:
        return 0
