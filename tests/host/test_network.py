"""Network interfaces and kernel settings of a recorded machine."""

from __future__ import annotations

from pathlib import Path

from dyno.host.kernel import tunable_facts
from dyno.host.network import interfaces
from tests.host.machine import server, write


def test_interfaces_of_a_recorded_machine(tmp_path: Path) -> None:
    root = server(tmp_path)
    net = "sys/class/net"
    write(root, {f"{net}/lo/type": "772\n", f"{net}/lo/mtu": "65536\n"})
    bond = {"type": "1", "mtu": "1500", "speed": "-1", "bonding/slaves": "eth0 eth1"}
    write(root, {f"{net}/bond0/{name}": text for name, text in bond.items()})
    write(root, {f"{net}/eth0/device/vendor": "0x8086"})
    bonded, card = interfaces(root)
    assert (card["name"], card["speed_mbps"], card["mtu"]) == ("eth0", 10_000, 9000)
    assert (card["physical"], card["bonded"], card["state"]) == (True, [], "up")
    assert card["segmentation_offload"] is None  # only a driver knows
    assert (bonded["name"], bonded["speed_mbps"]) == ("bond0", None)
    assert (bonded["physical"], bonded["bonded"]) == (False, ["eth0", "eth1"])


def test_interfaces_of_this_machine() -> None:
    for one in interfaces():
        assert one["name"] != "lo"
        assert one["segmentation_offload"] in (True, False, None)


def test_kernel_settings(tmp_path: Path) -> None:
    root = write(tmp_path, {"proc/sys/vm/swappiness": "60\n", "proc/sys/vm/dirty_ratio": "x"})
    found = tunable_facts(root)
    assert (found["swappiness"], found["dirty_ratio"], found["zone_reclaim_mode"]) == (
        60,
        None,
        None,
    )
