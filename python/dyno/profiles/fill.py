"""Fill levels: test file sizes that fill a volume to 40 or 85 percent."""

from __future__ import annotations

import os
from pathlib import Path

from dyno.bundle.model import Model
from dyno.config.units import bytes_text
from dyno.errors import DiskFullError, UsageError
from dyno.profiles.volume import Volume

MOST_PERCENT = 95.0
"""Above this level file systems slow down on their own, and other users run out of space."""
SPARE_BYTES = 64 << 20
"""Free space to leave for other writers, same as in the engine."""
_PAGE = 4096


class Stage(Model):
    """A fill level: its percent, and the test file size of each volume by name, in bytes."""

    percent: float
    bytes: dict[str, int]

    @property
    def label(self) -> str:
        """``40 %``."""
        return f"{self.percent:g} %"


class Space(Model):
    """A file system: its size without reserved blocks, as df counts it, and free space, in bytes.

    Blocks that ext4 reserves for root are neither used nor free. Counted, they would make an empty
    volume look partly full.
    """

    total: int
    free: int

    @classmethod
    def of(cls, path: Path) -> Space:
        """Returns the space of the file system under ``path``."""
        stat = os.statvfs(path)
        blocks = stat.f_blocks - stat.f_bfree + stat.f_bavail
        return cls(total=blocks * stat.f_frsize, free=stat.f_bavail * stat.f_frsize)


def stages(
    volumes: tuple[Volume, ...], percents: tuple[float, ...], size: int | None
) -> tuple[Stage, ...]:
    """Returns the levels of all volumes.

    Args:
        volumes: Folders.
        percents: In increasing order.
        size: Bytes that count as the whole volume. None selects the size of the file system, where
            existing data counts as filled, as in df.

    Raises:
        UsageError: If a level is below the existing data, above the limit, or not for a folder.
        DiskFullError: If the last level does not fit.
    """
    other = next((volume for volume in volumes if volume.kind != "folder"), None)
    if other is not None:
        raise UsageError(f"--fill is for folders; {other.path} is a {other.kind}.")
    most = 100.0 if size is not None else MOST_PERCENT
    wrong = next((percent for percent in percents if not 0 < percent <= most), None)
    if wrong is not None:
        raise UsageError(f"--fill {wrong:g}: use percent above 0, at most {most:g}.")
    return tuple(
        Stage(
            percent=percent,
            bytes={volume.name: _bytes(volume, percent, size) for volume in volumes},
        )
        for percent in sorted(set(percents))
    )


def require_space(volumes: tuple[Volume, ...], needed: dict[str, int]) -> None:
    """Checks that the test files of all volumes fit, added up per file system.

    Raises:
        DiskFullError: With the required and the free space.
    """
    asked: dict[int, list[Volume]] = {}
    for volume in volumes:
        if volume.kind == "folder":
            asked.setdefault(volume.path.stat().st_dev, []).append(volume)
    for together in asked.values():
        bytes_ = sum(needed[volume.name] for volume in together)
        space = Space.of(together[0].path)
        if space.total and space.free < bytes_ + SPARE_BYTES:
            places = ", ".join(str(volume.path) for volume in together)
            files = "file needs" if len(together) == 1 else "files need"
            raise DiskFullError(
                f"The test {files} {bytes_text(bytes_)} in {places}, and {bytes_text(SPARE_BYTES)} "
                f"stay free; {bytes_text(space.free)} are free. Free space, or use less (--size, "
                "--fill)."
            )


def _bytes(volume: Volume, percent: float, size: int | None) -> int:
    space = Space.of(volume.path)
    if size is not None:
        return int(size * percent / 100) // _PAGE * _PAGE
    used = space.total - space.free
    wanted = int(space.total * percent / 100) - used
    if wanted < _PAGE:
        raise UsageError(
            f"{volume.path} is {used / space.total * 100:.0f} % full already, so it cannot be "
            f"filled to {percent:g} %. Use higher levels, or --fill-of SIZE."
        )
    return wanted // _PAGE * _PAGE
