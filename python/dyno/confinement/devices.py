"""The block devices of I/O limits."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from dyno.errors import TargetError, UsageError
from dyno.host.block import number, whole_disk
from dyno.host.files import ROOT
from dyno.host.storage import device_named, storage_facts


def under(paths: Iterable[Path], root: Path = ROOT) -> dict[str, str]:
    """Names of the whole devices under paths, each with its ``major:minor``.

    The kernel limits I/O per whole device, so a partition maps to its disk.

    Raises:
        UsageError: If a path is not on a single block device, or its file system does not respond.
    """
    found: dict[str, str] = {}
    for path in paths:
        disk = _disk(path, root)
        numbered = None if disk is None else number(disk)
        if disk is None or numbered is None:
            raise UsageError(
                f"--limit: {path} lies on no block device that its I/O could be limited on."
            )
        found[disk.name] = numbered
    return found


def disk_of(name: str, root: Path = ROOT) -> str:
    """The name of the whole device of a device; its own if this machine does not know it."""
    device = device_named(f"/dev/{name}", root)
    disk = None if device is None else whole_disk(device)
    return name if disk is None else disk.name


def _disk(path: Path, root: Path) -> Path | None:
    try:
        place = path.resolve()
        device = device_named(str(place), root)
        if device is None:
            facts = storage_facts(place, root)
            # A limit on one of several members of a file system would have no effect.
            several = facts["fs_type"] == "btrfs" and len(facts["disks"]) > 1
            name = None if several else facts["device"]
            device = device_named(f"/dev/{name}", root) if name else None
    except (OSError, TargetError) as error:
        raise UsageError(f"--limit: cannot look at what lies under {path}: {error}") from error
    return None if device is None else whole_disk(device)
