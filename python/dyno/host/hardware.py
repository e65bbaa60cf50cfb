"""Hardware for a certificate: system, memory modules, network ports, and the disks under volumes.

Serial numbers are not read: they identify a machine and say nothing about its speed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from dyno.errors import TargetError
from dyno.host.block import member_disks
from dyno.host.files import ROOT, children, read_int, read_text
from dyno.host.smbios import memory_module
from dyno.host.storage import device_named, storage_facts
from dyno.host.volume import volume_facts


def hardware_facts(
    places: Mapping[str, Mapping[str, Iterable[Path]]], root: Path = ROOT
) -> dict[str, Any]:
    """Facts on the hardware of this machine, ready for JSON; unreadable ones are null or absent.

    Args:
        places: Paths of the databases here, by target and role.
        root: The folder that holds ``proc`` and ``sys``.
    """
    return {
        "system": _system(root),
        "dimms": list(_dimms(root)),
        "nics": list(_nics(root)),
        "volumes": [
            {"target": target, "role": role, **_volume(path, root)}
            for target, roles in places.items()
            for role, paths in roles.items()
            for path in paths
        ],
    }


def _system(root: Path) -> dict[str, Any]:
    folder = root / "sys/class/dmi/id"
    names = {"vendor": "sys_vendor", "product": "product_name"}
    names |= {name: name for name in ("bios_vendor", "bios_version", "bios_date")}
    return {name: read_text(folder / file) for name, file in names.items()}


def _dimms(root: Path) -> Iterator[dict[str, Any]]:
    """The populated memory slots. Only root may read them."""
    folder = root / "sys/firmware/dmi/entries"
    for name in children(folder):
        if name.startswith("17-"):  # memory device
            try:
                found = memory_module((folder / name / "raw").read_bytes())
            except OSError:
                continue
            if found is not None:
                yield found


def _nics(root: Path) -> Iterator[dict[str, Any]]:
    """Network ports with a device; links that are down have no speed."""
    folder = root / "sys/class/net"
    for name in children(folder):
        port = folder / name
        if not (port / "device").exists():
            continue
        speed = read_int(port / "speed")
        driver = port / "device/driver"
        yield {
            "name": name,
            "speed_mbps": speed if speed is not None and speed > 0 else None,
            "mtu": read_int(port / "mtu"),
            "driver": driver.resolve().name if driver.exists() else None,
            "numa_node": _node((port / "device").resolve()),
        }


def _volume(path: Path, root: Path) -> dict[str, Any]:
    try:
        own, place = volume_facts(path, root), storage_facts(path, root)
    except TargetError:
        return {"mount_point": str(path)}
    device = device_named(f"/dev/{own['device']}", root) if own["device"] else None
    disks = [] if device is None else member_disks(device)
    nodes = {_node(disk) for disk in disks} - {None}
    versions = {_firmware(disk) for disk in disks} - {None}
    return {
        "mount_point": place["mount_point"],
        "filesystem": own["filesystem"],
        "device": own["device"],
        "model": own["model"],
        "raid": own["raid"],
        "size_bytes": place["size_bytes"],
        "numa_node": nodes.pop() if len(nodes) == 1 else None,
        "firmware": ", ".join(sorted(map(str, versions))) or None,
    }


def _firmware(disk: Path) -> str | None:
    return read_text(disk / "device/firmware_rev") or read_text(disk / "device/rev")


def _node(folder: Path) -> int | None:
    """The memory node of a device: that of the nearest one above it that has one."""
    for above in (folder.resolve(), *folder.resolve().parents):
        node = read_int(above / "numa_node") if above.name else None
        if node is None:
            node = read_int(above / "device/numa_node") if above.name else None
        if node is not None:
            return node if node >= 0 else None
    return None
