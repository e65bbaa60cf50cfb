"""Multipath: two paths to storage over a network."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.advise.rule import Rule, Verdict, held
from dyno.decide.advise.sources import DSS, OLTP
from dyno.decide.advise.system import System, Volume, inapplicable
from dyno.decide.advise.volumes import each_volume, on_storage


def _judge(volume: Volume) -> Verdict:
    if not on_storage(volume).facts.switch("remote"):
        raise inapplicable("its disks are attached to this machine")
    layers = volume.facts.words("layers")
    native = all(disk.text("name").startswith("nvme") for disk in volume.disks)
    if native and "multipath" not in layers:
        raise inapplicable("Linux hides the paths of NVMe: see nvme list-subsys")
    return held(
        "multipath" in layers,
        " on ".join(layers) or "one path",
        "multipath over two interfaces and two switches",
        "apt-get install multipath-tools && mpathconf --enable; multipath -ll",
    )


def _check(system: System) -> Iterable[Verdict]:
    yield from each_volume(system, _judge)


RULE = Rule(
    name="multipath",
    area="storage",
    scope="database",
    severity="high",
    looks_at="device layers of volumes over iSCSI, Fibre Channel or NVMe over fabrics",
    wants="a multipath device",
    why="A single cable, port or switch that fails takes the database away. Two paths also have "
    "twice the bandwidth.",
    source=f"{DSS}, 7.2; {OLTP}, 7.2 and 7.3",
    study="scale-volumes",
    check=_check,
)
