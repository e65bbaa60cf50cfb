"""Targets of a profile: folders, files and block devices, by name."""

from __future__ import annotations

import re
import stat
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

from dyno.bundle.model import Model
from dyno.errors import TargetError, UsageError

Kind = Literal["folder", "file", "device"]
How = Literal["together", "compare", "scaling"]

_NAMED = re.compile(r"([A-Za-z0-9_-]+)=(.+)", re.DOTALL)
_UNFIT = re.compile(r"[^A-Za-z0-9_-]+")


class Volume(Model):
    """A storage location.

    Attributes:
        name: Name in results: letters, digits, ``-`` and ``_``.
        kind: For a folder, Dyno creates a test file. Files and devices are used directly.
    """

    name: str
    path: Path
    kind: Kind


class VolumeSet(Model):
    """Volumes measured together."""

    volumes: tuple[Volume, ...]

    @property
    def label(self) -> str:
        """``a`` or ``a+b``."""
        return "+".join(volume.name for volume in self.volumes)


def parse(texts: Sequence[str]) -> tuple[Volume, ...]:
    """Parses volumes from ``[NAME=]PATH``. Each gets a unique name.

    Raises:
        UsageError: If two have the same name or location, or one cannot be measured.
        TargetError: If one does not exist or cannot be accessed.
    """
    found: list[Volume] = []
    for text in texts:
        named = _NAMED.fullmatch(text)
        if named and not Path(text).exists():
            volume = Volume(name=named[1], path=_path(named[2]), kind=_kind(named[2]))
            if any(volume.name == other.name for other in found):
                raise UsageError(f"Two volumes are named '{volume.name}'; use unique names.")
        else:
            path = _path(text)
            volume = Volume(name=_free(path, found), path=path, kind=_kind(text))
        twin = next((other for other in found if _same(other.path, volume.path)), None)
        if twin is not None:
            raise UsageError(f"{volume.path} is given twice, as '{twin.name}' and '{volume.name}'.")
        found.append(volume)
    return tuple(found)


def volume_sets(volumes: Sequence[Volume], how: How) -> tuple[VolumeSet, ...]:
    """Returns the volume sets: all volumes; each alone; or the first, the first two, and so on."""
    if how == "compare":
        return tuple(VolumeSet(volumes=(volume,)) for volume in volumes)
    if how == "scaling":
        counts = range(1, len(volumes) + 1)
        return tuple(VolumeSet(volumes=tuple(volumes[:count])) for count in counts)
    return (VolumeSet(volumes=tuple(volumes)),)


def order(volume_sets: Sequence[VolumeSet], repeats: int) -> Iterable[tuple[int, VolumeSet]]:
    """Yields the repeats of all volume sets in alternating order: drift affects all equally."""
    for repeat in range(1, repeats + 1):
        for volume_set in volume_sets if repeat % 2 else reversed(volume_sets):
            yield repeat, volume_set


def _path(text: str) -> Path:
    return Path(text).expanduser().absolute()


def _kind(text: str) -> Kind:
    path = _path(text)
    try:
        mode = path.stat().st_mode
    except FileNotFoundError as error:
        raise UsageError(
            f"{path} does not exist. Use a folder, a file or a block device."
        ) from error
    except OSError as error:
        raise TargetError(f"Cannot look at {path}: {error.strerror}.") from error
    if stat.S_ISDIR(mode):
        return "folder"
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISBLK(mode):
        return "device"
    raise UsageError(f"{path} is not a folder, file or block device.")


def _free(path: Path, others: Sequence[Volume]) -> str:
    """Returns an unused name from the end of the path."""
    name = _UNFIT.sub("-", path.name).strip("-") or "root"
    taken = {other.name for other in others}
    number = 2
    free = name
    while free in taken:
        free, number = f"{name}-{number}", number + 1
    return free


def _same(one: Path, other: Path) -> bool:
    return one.exists() and other.exists() and one.samefile(other)
