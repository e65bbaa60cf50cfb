"""The link between a disk and its machine: PCI Express or SATA, and its highest rate."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from dyno.host.files import children, read_int, read_text

_GIGATRANSFERS = re.compile(r"(\d+(?:\.\d+)?) GT/s")
_GIGABITS = re.compile(r"(\d+(?:\.\d+)?) Gbps")


def link_facts(disk: Path) -> dict[str, Any]:
    """``link`` and ``link_mbps`` of a disk as in ``dyno.host.fields``; None if unknown.

    Args:
        disk: Its folder in ``/sys``.
    """
    found = _pci_express(disk) or _sata(disk)
    name, mbps = found or (None, None)
    return {"link": name, "link_mbps": mbps}


def _pci_express(disk: Path) -> tuple[str, float] | None:
    """Of an NVMe drive, whose controller is a device of the bus."""
    if not disk.name.startswith("nvme"):
        return None
    controller = disk / "device/device"
    speed = _GIGATRANSFERS.match(read_text(controller / "current_link_speed") or "")
    lanes = read_int(controller / "current_link_width")
    if speed is None or not lanes:
        return None
    rate = float(speed[1])
    # Each byte takes 10 bits up to 5 GT/s; then 128 bits of data take 130.
    bits = 10 if rate <= 5 else 8 * 130 / 128
    return f"PCIe {rate:g} GT/s x{lanes}", rate * 1000 * lanes / bits


def _sata(disk: Path) -> tuple[str, float] | None:
    for folder in (disk / "device").resolve().parents:
        if not re.fullmatch(r"ata\d+", folder.name):
            continue
        for link in children(folder):
            told = read_text(folder / link / "ata_link" / link / "sata_spd") or ""
            speed = _GIGABITS.match(told)
            if speed is not None:
                return f"SATA {speed[1]} Gbit/s", float(speed[1]) * 100  # 10 bits a byte
    return None
