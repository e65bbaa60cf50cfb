"""Hardware facts from captured trees, and memory modules from the tables of the firmware."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dyno.host.hardware import hardware_facts
from dyno.host.smbios import memory_module
from tests.host.machine import server, write


def module(size: int = 16 << 10, extended: int = 0, kind: int = 0x22, length: int = 0x28) -> bytes:
    """A structure of type 17 with texts, as DSP0134 defines it."""
    body = bytearray(length)
    body[0], body[1] = 17, length
    body[0x0C:0x0E] = size.to_bytes(2, "little")
    body[0x10], body[0x12], body[0x17], body[0x1A] = 1, kind, 2, 3
    body[0x15:0x17] = (5600).to_bytes(2, "little")
    if length >= 0x22:
        body[0x1C:0x20] = extended.to_bytes(4, "little")
        body[0x20:0x22] = (4800).to_bytes(2, "little")
    return bytes(body) + b"DIMM A1\0Maker \0PART-16\0\0"


def test_a_module_is_read() -> None:
    assert memory_module(module()) == {
        "slot": "DIMM A1",
        "size_bytes": 16 << 30,
        "type": "DDR5",
        "mega_transfers": 4800,
        "manufacturer": "Maker",
        "part": "PART-16",
    }


def test_sizes_of_modules() -> None:
    large = memory_module(module(0x7FFF, extended=64 << 10))
    old = memory_module(module(8192, length=0x1B))
    unknown = memory_module(module(0xFFFF))
    assert large is not None
    assert old is not None
    assert unknown is not None
    assert large["size_bytes"] == 64 << 30
    assert (old["size_bytes"], old["mega_transfers"]) == (8 << 30, 5600)
    assert unknown["size_bytes"] is None
    assert memory_module(module(0)) is None  # an empty slot


@given(st.binary(max_size=300))
def test_any_bytes_are_read_without_an_error(raw: bytes) -> None:
    found = memory_module(raw)
    assert found is None or json.dumps(found)


def test_a_machine_with_hardware(tmp_path: Path) -> None:
    root = server(tmp_path)
    write(
        root,
        {
            "sys/class/dmi/id/sys_vendor": "Example\n",
            "sys/class/dmi/id/bios_version": "1.2\n",
            "sys/class/net/eth0/device/numa_node": "1\n",
            "sys/class/net/eth0/speed": "25000\n",
            "sys/class/net/eth0/mtu": "9000\n",
            "sys/class/net/lo/mtu": "65536\n",
            "sys/class/net/down0/device/numa_node": "-1\n",
            "sys/class/net/down0/speed": "-1\n",
        },
    )
    raw = root / "sys/firmware/dmi/entries/17-0/raw"
    raw.parent.mkdir(parents=True)
    raw.write_bytes(module())
    found = hardware_facts({"db": {"data": [root]}}, root)
    assert found["system"]["vendor"] == "Example"
    assert found["system"]["bios_version"] == "1.2"
    assert [one["size_bytes"] for one in found["dimms"]] == [16 << 30]
    ports = {one["name"]: one for one in found["nics"]}
    assert set(ports) == {"eth0", "down0"}
    assert (ports["eth0"]["speed_mbps"], ports["eth0"]["numa_node"]) == (25_000, 1)
    assert (ports["down0"]["speed_mbps"], ports["down0"]["numa_node"]) == (None, None)
    assert found["volumes"][0]["role"] == "data"


@pytest.mark.parametrize("root", [None, "nothing"])
def test_this_machine_and_none(tmp_path: Path, root: str | None) -> None:
    place = Path("/") if root is None else tmp_path / root
    found = hardware_facts({"db": {"data": [tmp_path]}}, place)
    assert json.dumps(found)
    assert found["volumes"][0]["target"] == "db"
