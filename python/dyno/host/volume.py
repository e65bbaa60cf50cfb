"""A volume that is to be profiled: what lies under it, what limits it, and who else uses it.

A volume is a folder, a file, or a block device.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from dyno.host.block import disk_facts, is_remote, layers, member_disks, number, whole_disk
from dyno.host.cached import memory_behind
from dyno.host.cgroup import io_limits
from dyno.host.files import ROOT, children, read_text
from dyno.host.memory import memory_facts
from dyno.host.mounts import Mount, parse_mountinfo, unescape
from dyno.host.storage import device_named, storage_facts
from dyno.host.virtualisation import virtualisation_facts

# Words in the vendor or model of disks that hypervisors and clouds make.
_MADE_UP = re.compile(
    r"qemu|kvm|vmware|vbox|virtual|msft|xen|elastic block store|persistentdisk", re.IGNORECASE
)
_VIRTUAL_NAMES = re.compile(r"(vd|xvd)[a-z]+")


def volume_facts(path: Path, root: Path = ROOT) -> dict[str, Any]:
    """Facts on the volume ``path``; the fields are documented in ``dyno.host.fields``.

    Raises:
        TargetError: If a file system does not answer.
    """
    place = path.resolve()
    device = device_named(str(place), root)
    if device is None:
        storage = storage_facts(place, root)
        name = storage["device"]
        device = device_named(f"/dev/{name}", root) if name else None
        members = [disk for disk in storage["disks"] if disk["name"]]
        filesystem, options = storage["fs_type"], storage["options"]
        networked = storage["fs_kind"] == "network"
        size = place.stat().st_size if place.is_file() else storage["size_bytes"]
    else:
        members = [disk_facts(disk) for disk in member_disks(device)]
        mount = _mount(device, root)
        filesystem = mount.fs_type if mount else None
        options = list(mount.options) if mount else []
        networked, size = False, _size(device)
    disks = [device_named(f"/dev/{disk['name']}", root) for disk in members]
    made = [] if device is None else layers(device)
    if filesystem == "btrfs" and len(members) > 1:
        made = ["btrfs", *made]
    return {
        "device": None if device is None else device.name,
        "model": ", ".join(dict.fromkeys(str(d["model"]) for d in members if d["model"])) or None,
        "rotational": _any(disk["rotational"] for disk in members),
        "write_cache": _write_cache([disk["write_cache"] for disk in members]),
        "virtual": bool(virtualisation_facts(root)["virtual"])
        or any(disk is not None and _is_virtual(disk) for disk in disks),
        "remote": networked or any(disk is not None and is_remote(disk) for disk in disks),
        "filesystem": filesystem,
        "mount_options": options,
        "raid": " on ".join(made) or None,
        "in_memory": _in_memory(disks, root),
        "members": [disk["name"] for disk in members],
        "largest_request_bytes": min(_known(members, "largest_request_bytes"), default=None),
        **_links(members),
        "memory_bytes": memory_facts(root)["total_bytes"],
        "cgroup_limit": None if device is None else io_limits(_numbers(device), root) or None,
        "size_bytes": size,
    }


def _in_memory(disks: Iterable[Path | None], root: Path) -> str | None:
    mounts = parse_mountinfo(read_text(root / "proc/self/mountinfo") or "")
    found = (memory_behind(disk, mounts, root) for disk in disks if disk is not None)
    return next((words for words in found if words), None)


def in_use(path: Path, root: Path = ROOT) -> str | None:
    """Who else uses a file or a block device, such as ``sdb1 is mounted on /data``.

    Of a disk its partitions count, too. A folder is there to be shared. What other name spaces
    have mounted is not seen from here; the kernel knows of it when a device is opened exclusively.

    Returns:
        None if no user is known.
    """
    place = path.resolve()
    device = device_named(str(place), root)
    if device is None:
        return next(_users_of_file(place, root), None)
    parts = [name for name in children(device) if (device / name / "partition").exists()]
    folders = (device, *(device / name for name in parts))
    return next((words for folder in folders for words in _users_of_device(folder, root)), None)


def read_only(path: Path, root: Path = ROOT) -> bool:
    """Whether the kernel takes no writes to a block device."""
    device = device_named(str(path.resolve()), root)
    return device is not None and read_text(device / "ro") == "1"


def _users_of_file(place: Path, root: Path) -> Iterator[str]:
    if str(place) in _swaps(root):
        yield f"{place} is used for swap"
    for name in children(root / "sys/block"):
        if read_text(root / "sys/block" / name / "loop/backing_file") == str(place):
            yield f"{place} backs {name}"


def _users_of_device(folder: Path, root: Path) -> Iterator[str]:
    name = folder.name
    mount = _mount(folder, root)
    if mount is not None:
        yield f"{name} is mounted on {mount.point}"
    if any(swap.startswith("/dev/") and Path(swap).name == name for swap in _swaps(root)):
        yield f"{name} is used for swap"
    held = children(folder / "holders")
    if held:
        yield f"{name} is part of {', '.join(held)}"
    for uuid in children(root / "sys/fs/btrfs"):
        if name in children(root / "sys/fs/btrfs" / uuid / "devices"):
            yield f"{name} is part of a mounted btrfs file system"


def _mount(device: Path, root: Path) -> Mount | None:
    """Where a device itself is mounted; of several places the first."""
    mounts = parse_mountinfo(read_text(root / "proc/self/mountinfo") or "")
    own = number(device)
    for mount in mounts:
        # btrfs mounts its devices under an anonymous number.
        named = mount.source.startswith("/dev/") and device_named(mount.source, root) == device
        if mount.device == own or (named and mount.device.startswith("0:")):
            return mount
    return None


def _swaps(root: Path) -> set[str]:
    """Files and devices of ``/proc/swaps``."""
    lines = (read_text(root / "proc/swaps") or "").splitlines()[1:]
    return {unescape(line.split()[0]) for line in lines if line.split()}


def _numbers(device: Path) -> set[str]:
    """Devices whose throttles hold for all of a volume: it, and what alone lies below it.

    A throttle on one of several members of an array is not one of the array.
    """
    found: set[str] = set()
    disk: Path | None = whole_disk(device)
    while disk is not None:
        found.add(number(disk) or "")
        below = children(disk / "slaves")
        disk = whole_disk((disk / "slaves" / below[0]).resolve()) if len(below) == 1 else None
    return found


def _is_virtual(disk: Path) -> bool:
    words = [read_text(disk / "device" / name) for name in ("vendor", "model")]
    named = _VIRTUAL_NAMES.fullmatch(disk.name) is not None
    return named or _MADE_UP.search(" ".join(word for word in words if word)) is not None


def _size(device: Path) -> int | None:
    return disk_facts(device)["size_bytes"]


def _known(disks: list[dict[str, Any]], fact: str) -> list[Any]:
    return [disk[fact] for disk in disks if disk[fact] is not None]


def _links(disks: list[dict[str, Any]]) -> dict[str, Any]:
    """All links together, as a stripe or a mirror reads from all; none if one is unknown."""
    rates = _known(disks, "link_mbps")
    if not rates or len(rates) < len(disks):
        return {"link": None, "link_mbps": None}
    links = ", ".join(dict.fromkeys(_known(disks, "link")))
    return {"link": links, "link_mbps": sum(rates)}


def _any(values: Iterable[bool | None]) -> bool | None:
    known = [value for value in values if value is not None]
    return any(known) if known else None


def _write_cache(caches: list[str | None]) -> str | None:
    known = [cache for cache in caches if cache is not None]
    return "write back" if "write back" in known else next(iter(known), None)
