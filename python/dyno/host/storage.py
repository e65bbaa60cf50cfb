"""The file system under a path and the disks under that."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dyno.errors import TargetError
from dyno.host.block import (
    counted_devices,
    disk_facts,
    is_remote,
    layers,
    member_disks,
    offset_bytes,
    read_devices,
    whole_disk,
)
from dyno.host.diskstats import active_devices
from dyno.host.files import ROOT, children, read_text
from dyno.host.mounts import ACCELERATED, Mount, mount_of, parse_mountinfo, without_cache

MEMORY_FS = frozenset({"tmpfs", "ramfs", "hugetlbfs", "devtmpfs"})
NETWORK_FS = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "ceph", "glusterfs", "lustre", "gpfs", "afs", "9p"}
    | {"virtiofs", "beegfs", "ocfs2", "gfs2"}
)
LAYERED_FS = frozenset({"overlay", "aufs", "unionfs", "ecryptfs"})

OWN_CACHE = {"zfs": "ZFS has its own cache (ARC)", "bcachefs": "bcachefs may cache below"}
"""File systems with caches that Linux shows nobody."""


def fs_kind(fs_type: str) -> str:
    """``disk``, ``memory``, ``network``, ``layered`` or ``user`` (a FUSE file system)."""
    if fs_type in MEMORY_FS:
        return "memory"
    if fs_type in NETWORK_FS or fs_type.removeprefix("fuse.") in NETWORK_FS:
        return "network"
    if fs_type in LAYERED_FS or fs_type == "fuse.fuse-overlayfs":
        return "layered"
    if fs_type == ACCELERATED:
        return "disk"
    # fuseblk is FUSE on a block device of its own (ntfs-3g).
    return "user" if fs_type.startswith("fuse") else "disk"


def storage_facts(path: Path, root: Path = ROOT) -> dict[str, Any]:
    """Facts on what lies under ``path``; the fields are documented in ``dyno.host.fields``.

    A path that does not exist yet stands for its nearest parent that does. A block device stands
    for itself, without a file system.

    Raises:
        TargetError: If the file system there does not answer.
    """
    try:
        own = device_named(str(path.resolve()), root)
        if own is not None:
            return _device_facts(path, own, root)
        place = nearest_existing(path)
        space = os.statvfs(place)
    except OSError as error:
        raise TargetError(f"Cannot use {path}: {error.strerror}. Use another path.") from error
    mounts = parse_mountinfo(read_text(root / "proc/self/mountinfo") or "")
    mount = mount_of(place, mounts)
    size, free = space.f_frsize * space.f_blocks, space.f_frsize * space.f_bavail
    devices = [] if mount is None else devices_under(mount, mounts, root)
    own = _place_facts(path, mount, size, free, space.f_bsize)
    return {**own, **_carriers(devices, root)}


def cache_of(path: Path, root: Path = ROOT) -> Path | None:
    """The folder of the cache that Dyno has in front of ``path``; None if there is none."""
    mounts = parse_mountinfo(read_text(root / "proc/self/mountinfo") or "")
    mount = mount_of(nearest_existing(path), mounts)
    return Path(mount.source) if mount is not None and mount.fs_type == ACCELERATED else None


def _device_facts(path: Path, device: Path, root: Path) -> dict[str, Any]:
    """Facts on a block device that is a volume itself."""
    size = disk_facts(device)["size_bytes"]
    return {**_place_facts(path, None, size, None), **_carriers([device], root)}


def _place_facts(
    path: Path,
    mount: Mount | None,
    size_bytes: int | None,
    free_bytes: int | None,
    block_bytes: int | None = None,
) -> dict[str, Any]:
    """Where it is, and of a file system what that is."""
    return {
        "path": str(path),
        "mount_point": None if mount is None else mount.point,
        "fs_type": None if mount is None else mount.fs_type,
        "fs_kind": None if mount is None else fs_kind(mount.fs_type),
        "fs_source": None if mount is None else mount.source,
        "options": [] if mount is None else list(mount.options),
        "size_bytes": size_bytes,
        "free_bytes": free_bytes,
        "block_bytes": block_bytes,
    }


def _carriers(devices: Sequence[Path], root: Path) -> dict[str, Any]:
    """What the block devices under a volume are; without any none of that."""
    if not devices:
        nothing = {"device": None, "disk": None, "subject": None, "subjects": [], "disks": []}
        return {**nothing, "layers": [], "offset_bytes": None, "remote": None}
    disks = {disk.name: disk for device in devices for disk in member_disks(device)}
    device, disk = devices[0].name, whole_disk(devices[0]).name
    counted = counted_devices(read_devices(root), active_devices(root))

    def subject(one: Path) -> str | None:
        names = one.name, whole_disk(one).name
        return next((name for name in names if name in counted), None)

    return {
        "device": device,
        "disk": disk,
        "subject": subject(devices[0]),
        "subjects": [subject(one) for one in devices],
        "disks": [disk_facts(disks[name]) for name in sorted(disks)],
        "layers": layers(devices[0]),
        "offset_bytes": offset_bytes(devices[0]),
        "remote": any(is_remote(disk) for disk in disks.values()),
    }


def nearest_existing(path: Path) -> Path:
    """``path`` without links, or the nearest of its parents that exists."""
    place = path.resolve()
    while not place.exists() and place != place.parent:
        place = place.parent
    return place


def devices_under(mount: Mount, mounts: Sequence[Mount], root: Path = ROOT) -> list[Path]:
    """Folders in ``/sys`` of the block devices that carry a mount.

    Several for btrfs on several devices; none where no block device can be named: memory and
    network file systems, ZFS, and overlays whose upper folder another name space holds.
    """
    if not mount.device.startswith("0:"):
        folder = root / "sys/dev/block" / mount.device
        return [folder.resolve()] if folder.exists() else []
    if mount.fs_type == ACCELERATED:
        under, below = without_cache(mount, mounts)
        return devices_under(under, below, root) if under else []
    if mount.fs_type == "overlay":
        upper = mount.option("upperdir")
        below = [m for m in mounts if m.fs_type != "overlay"]
        if upper is None or not (root / upper.lstrip("/")).exists():
            return []
        under = mount_of(Path(upper), below)
        return devices_under(under, below, root) if under else []
    # btrfs and some others mount a block device under an anonymous number.
    named = device_named(mount.source, root) if mount.source.startswith("/dev/") else None
    if named is None:
        return []
    return _btrfs_members(named, root) if mount.fs_type == "btrfs" else [named]


def device_named(source: str, root: Path = ROOT) -> Path | None:
    """The folder in ``/sys`` of a device file such as ``/dev/mapper/vg-data``, if it is one."""
    folder = root / "sys/class/block" / Path(source).name
    if source.startswith("/dev/") and folder.exists():
        return folder.resolve()
    try:
        status = (root / source.lstrip("/")).stat()
    except OSError:
        return None
    if not stat.S_ISBLK(status.st_mode):
        return None
    number = f"{os.major(status.st_rdev)}:{os.minor(status.st_rdev)}"
    folder = root / "sys/dev/block" / number
    return folder.resolve() if folder.exists() else None


def _btrfs_members(device: Path, root: Path) -> list[Path]:
    """All devices of the btrfs file system that ``device`` belongs to, ``device`` first."""
    base = root / "sys/fs/btrfs"
    for uuid in children(base):
        names = children(base / uuid / "devices")
        if device.name in names:
            others = [name for name in names if name != device.name]
            return [device, *((base / uuid / "devices" / name).resolve() for name in others)]
    return [device]
