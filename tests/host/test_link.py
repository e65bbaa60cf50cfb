"""The link of a disk, from recorded trees of the kernel."""

from __future__ import annotations

from pathlib import Path

import pytest

from dyno.host.link import link_facts
from tests.host.machine import write


@pytest.mark.parametrize(
    ("speed", "lanes", "name", "mbps"),
    [
        ("16.0 GT/s PCIe", "4", "PCIe 16 GT/s x4", 7877),
        ("8.0 GT/s PCIe", "2", "PCIe 8 GT/s x2", 1969),
        ("5.0 GT/s PCIe", "1", "PCIe 5 GT/s x1", 500),
        ("2.5 GT/s", "1", "PCIe 2.5 GT/s x1", 250),
    ],
)
def test_pci_express(tmp_path: Path, speed: str, lanes: str, name: str, mbps: int) -> None:
    """Rates without the code of the line, as PCI-SIG gives them."""
    folder = "sys/block/nvme0n1/device/device"
    files = {"current_link_speed": speed, "current_link_width": lanes}
    write(tmp_path, {f"{folder}/{file}": f"{text}\n" for file, text in files.items()})
    found = link_facts(tmp_path / "sys/block/nvme0n1")
    assert found["link"] == name
    assert found["link_mbps"] == pytest.approx(mbps, abs=0.5)


def test_sata(tmp_path: Path) -> None:
    port = "sys/devices/pci0/ata3"
    write(tmp_path, {f"{port}/link3/ata_link/link3/sata_spd": "6.0 Gbps\n",
                     f"{port}/host2/target/2:0:0:0/model": "Disk\n",
                     "sys/block/sda/size": "1\n"})  # fmt: skip
    (tmp_path / "sys/block/sda/device").symlink_to(tmp_path / port / "host2/target/2:0:0:0")
    assert link_facts(tmp_path / "sys/block/sda") == {"link": "SATA 6.0 Gbit/s", "link_mbps": 600}


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"nvme0n1/device/device/current_link_speed": "Unknown\n"},
        {"nvme0n1/device/device/current_link_speed": "16.0 GT/s PCIe\n"},
        {"nvme0n1/device/device/current_link_speed": "8.0 GT/s\n",
         "nvme0n1/device/device/current_link_width": "0\n"},
    ],
)  # fmt: skip
def test_an_unknown_link(tmp_path: Path, files: dict[str, str]) -> None:
    write(tmp_path, {f"sys/block/{path}": text for path, text in files.items()})
    assert link_facts(tmp_path / "sys/block/nvme0n1") == {"link": None, "link_mbps": None}
