"""Network interfaces: speed, MTU, bonds, flow control and offloads.

Offloads and flow control are asked of the driver (the ``ETHTOOL`` request of ioctl(2), which needs
no right to read), so they are known on a live machine only.
"""

from __future__ import annotations

import array
import fcntl
import socket
import struct
from pathlib import Path
from typing import Any

from dyno.host.files import ROOT, children, read_int, read_text

_SIOCETHTOOL = 0x8946
_PAUSE = 0x12
_SWITCHES = {"segmentation_offload": 0x1E, "receive_offload": 0x2B, "checksum_offload": 0x16}
"""TSO, GRO and transmit checksums; linux/ethtool.h."""


def interfaces(root: Path = ROOT) -> list[dict[str, Any]]:
    """Interfaces other than loopback; the fields are documented in ``dyno.host.fields``."""
    base = root / "sys/class/net"
    live = root == ROOT
    found: list[dict[str, Any]] = []
    for name in children(base):
        folder = base / name
        if read_int(folder / "type") != 1 or not (folder / "mtu").exists():  # Ethernet alone
            continue
        speed = read_int(folder / "speed")
        slaves = (read_text(folder / "bonding/slaves") or "").split()
        found.append(
            {
                "name": name,
                "state": read_text(folder / "operstate"),
                "speed_mbps": speed if speed is not None and speed > 0 else None,
                "duplex": read_text(folder / "duplex"),
                "mtu": read_int(folder / "mtu"),
                "physical": (folder / "device").exists(),
                "bonded": slaves,
                **(_of_driver(name) if live else _nothing()),
            }
        )
    return found


def _nothing() -> dict[str, Any]:
    return {**dict.fromkeys(_SWITCHES), "pause_receive": None, "pause_transmit": None}


def _of_driver(name: str) -> dict[str, Any]:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
        switches = {word: _switch(handle, name, code) for word, code in _SWITCHES.items()}
        pause = _request(handle, name, struct.pack("IIII", _PAUSE, 0, 0, 0))
    receive = transmit = None
    if pause is not None:
        _, _, receive, transmit = (bool(one) for one in struct.unpack("IIII", pause))
    return {**switches, "pause_receive": receive, "pause_transmit": transmit}


def _switch(handle: socket.socket, name: str, code: int) -> bool | None:
    answer = _request(handle, name, struct.pack("II", code, 0))
    return None if answer is None else bool(struct.unpack("II", answer)[1])


def _request(handle: socket.socket, name: str, asked: bytes) -> bytes | None:
    """The answer of an interface's driver; None if it has none."""
    value = array.array("B", asked)
    address, _ = value.buffer_info()
    try:
        fcntl.ioctl(handle, _SIOCETHTOOL, struct.pack("16sP", name.encode(), address))
    except (OSError, ValueError, struct.error):
        return None
    return value.tobytes()
