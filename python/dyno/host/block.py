"""Block devices as ``/sys/block`` shows them: which carry which, and how each is set.

The same byte passes through a partition and its disk, through a device-mapper or RAID device and
its members. Dyno counts it once, at the highest level, where a database meets it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dyno.host.files import ROOT, children, chosen, read_int, read_text
from dyno.host.link import link_facts

SECTOR_BYTES = 512
"""The unit of sizes and counters in ``/sys/block`` and ``/proc/diskstats``, whatever the device."""

_REMOTE_NAMES = re.compile(r"(rbd|nbd|drbd)\d+")
# A session of iSCSI or a port of Fibre Channel on the way to a disk.
_REMOTE_WAYS = re.compile(r"/(session\d+|rport-[\d:-]+)/")
# A path of a multipath NVMe namespace, such as nvme0c1n1 below nvme0n1.
_NVME_PATH = re.compile(r"(nvme\d+)c\d+(n\d+)")

# How those that make mapped devices begin the identifiers of these.
_MAPPERS = {"CRYPT": "crypt", "mpath": "multipath"}


@dataclass(frozen=True)
class WholeDevice:
    """An entry of ``/sys/block``.

    Attributes:
        held: Another block device is built directly on it.
        partitions: Its partitions, each with whether another block device is built on it.
    """

    name: str
    held: bool = False
    partitions: dict[str, bool] = field(default_factory=dict[str, bool])


def read_devices(root: Path = ROOT) -> list[WholeDevice]:
    """All whole block devices with what is built on them."""
    devices: list[WholeDevice] = []
    for name in children(root / "sys/block"):
        folder = root / "sys/block" / name
        parts = [part for part in children(folder) if (folder / part / "partition").exists()]
        devices.append(
            WholeDevice(
                name,
                held=bool(children(folder / "holders")),
                partitions={part: bool(children(folder / part / "holders")) for part in parts},
            )
        )
    return devices


def counted_devices(devices: Iterable[WholeDevice], active: set[str]) -> list[str]:
    """The devices to count so that each byte is counted once.

    That is every device on which no other is built. A disk of which some partitions carry others
    (a volume group beside ``/boot``) is represented by its remaining partitions.

    Args:
        devices: All whole devices.
        active: Names of those that have done I/O since boot; others are left out.
    """
    counted: list[str] = []
    for device in devices:
        path = _NVME_PATH.fullmatch(device.name)
        if device.held or (path and path[1] + path[2] in active):
            # Kernels before 6.4 count multipath NVMe on its paths only, later ones on both.
            continue
        if any(device.partitions.values()):
            counted += [name for name, held in device.partitions.items() if not held]
        else:
            counted.append(device.name)
    return [name for name in counted if name in active]


def is_nested(name: str) -> bool:
    """Whether a device keeps its bytes on another in a way that ``/sys/block`` does not show.

    Loop devices lie on files and ZFS volumes on pools: their bytes are counted below, too.
    """
    return re.match(r"(loop|zd)\d", name) is not None


def whole_disk(folder: Path) -> Path:
    """The disk of a partition, else the device itself; both as their folders in ``/sys``."""
    return folder.parent if (folder / "partition").exists() else folder


def member_disks(folder: Path) -> list[Path]:
    """Folders of the disks at the bottom of a device: itself if it is built on no other."""
    disk = whole_disk(folder)
    below = children(disk / "slaves")
    if not below:
        return [disk]
    found: dict[str, Path] = {}
    for name in below:
        for member in member_disks((disk / "slaves" / name).resolve()):
            found[member.name] = member
    return [found[name] for name in sorted(found)]


def number(folder: Path) -> str | None:
    """``major:minor`` of a device."""
    return read_text(folder / "dev")


def layers(folder: Path) -> list[str]:
    """What a device is made by, the highest first: ``["LVM", "raid1"]``; none for a plain disk.

    Of several devices below one the first stands for all.
    """
    disk = whole_disk(folder)
    level, uuid = read_text(disk / "md/level"), read_text(disk / "dm/uuid")
    below = children(disk / "slaves")
    found = layers((disk / "slaves" / below[0]).resolve()) if below else []
    if level:
        return [level, *found]
    if uuid is None:
        return found
    # A partition of a mapped device has the prefix part1-.
    kind = re.sub(r"^part\d+-", "", uuid).partition("-")[0]
    return [_MAPPERS.get(kind, kind or "device mapper"), *found]


def is_remote(disk: Path) -> bool:
    """Whether a disk is attached over a network."""
    if _REMOTE_NAMES.fullmatch(disk.name) or _REMOTE_WAYS.search(f"{disk}/"):
        return True
    return read_text(disk / "device/transport") in {"tcp", "rdma", "fc"}  # NVMe over fabrics


def offset_bytes(folder: Path) -> int | None:
    """Where a partition starts on its disk; 0 for a whole disk.

    Of a volume group or an array that of the first partition below it.
    """
    if (folder / "partition").exists():
        start = read_int(folder / "start")
        return None if start is None else start * SECTOR_BYTES
    below = children(folder / "slaves")
    return offset_bytes((folder / "slaves" / below[0]).resolve()) if below else 0


def disk_facts(folder: Path) -> dict[str, Any]:
    """Facts on one disk; the fields are documented in ``dyno.host.fields``."""
    queue = folder / "queue"
    rotational = read_int(queue / "rotational")
    sectors, ahead = read_int(folder / "size"), read_int(queue / "read_ahead_kb")
    largest = read_int(queue / "max_sectors_kb")
    return {
        "name": folder.name,
        "model": read_text(folder / "device/model") or read_text(folder / "device/name"),
        "size_bytes": None if sectors is None else sectors * SECTOR_BYTES,
        "rotational": None if rotational is None else rotational == 1,
        "scheduler": chosen(read_text(queue / "scheduler")),
        "write_cache": read_text(queue / "write_cache"),
        "requests": read_int(queue / "nr_requests"),
        "read_ahead_bytes": None if ahead is None else ahead * 1024,
        "largest_request_bytes": None if largest is None else largest * 1024,
        "logical_block_bytes": read_int(queue / "logical_block_size"),
        "physical_block_bytes": read_int(queue / "physical_block_size"),
        **link_facts(folder),
    }
