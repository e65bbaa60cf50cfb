"""``/proc/self/mountinfo``: which file system a path lies on."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

ACCELERATED = "fuse.dyno"
"""The type of a folder with a cache of Dyno in front; its source is the folder of the cache."""


@dataclass(frozen=True)
class Mount:
    """One line of mountinfo; proc_pid_mountinfo(5).

    Attributes:
        device: ``major:minor``; major 0 marks a file system without a block device of its own.
        root: The part of the file system that is mounted.
        point: Where it is mounted.
        options: Of this mount and of the file system, each once.
        source: The device or other name that was mounted.
    """

    device: str
    root: str
    point: str
    fs_type: str
    source: str
    options: tuple[str, ...]

    def option(self, name: str) -> str | None:
        """The value of an option ``name=value``."""
        prefix = f"{name}="
        return next((o[len(prefix) :] for o in self.options if o.startswith(prefix)), None)


def parse_mountinfo(text: str) -> list[Mount]:
    """All mounts, in the order in which they were made."""
    mounts: list[Mount] = []
    for line in text.splitlines():
        left, dash, right = line.partition(" - ")
        head, tail = left.split(), right.split()
        if not dash or len(head) < 6 or len(tail) < 2:
            continue
        options = [*head[5].split(","), *(tail[2].split(",") if len(tail) > 2 else [])]
        mounts.append(
            Mount(
                device=head[2],
                root=unescape(head[3]),
                point=unescape(head[4]),
                fs_type=tail[0],
                source=unescape(tail[1]),
                options=tuple(unescape(option) for option in dict.fromkeys(options)),
            )
        )
    return mounts


def mount_of(path: Path, mounts: Iterable[Mount]) -> Mount | None:
    """The mount that holds an absolute path without links: the deepest, and of equals the last."""
    best: Mount | None = None
    for mount in mounts:
        inside = PurePosixPath(path).is_relative_to(mount.point)
        if inside and (best is None or len(mount.point) >= len(best.point)):
            best = mount
    return best


def without_cache(mount: Mount, mounts: Iterable[Mount]) -> tuple[Mount | None, list[Mount]]:
    """The mount that a cache of Dyno is in front of, and the mounts without those of caches."""
    below = [one for one in mounts if one.fs_type != ACCELERATED]
    return mount_of(Path(mount.point), below), below


def unescape(text: str) -> str:
    r"""Undoes the octal escapes of blanks, such as ``\040``."""
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), text)
