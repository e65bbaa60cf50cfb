"""Rotational flag: Linux knows that a disk does not spin."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.advise.amounts import sh, some
from dyno.decide.advise.rule import Rule, Verdict, held
from dyno.decide.advise.sources import DYNO, LINUX
from dyno.decide.advise.system import System, Volume
from dyno.decide.advise.volumes import each_volume


def _judge(volume: Volume) -> Verdict:
    spins = {disk.text("name"): disk.switch("rotational") for disk in volume.disks}
    wrong = [
        name for name, turns in spins.items() if turns and name.startswith(("vd", "xvd", "nvme"))
    ]
    return held(
        not wrong,
        some([f"{name}: {'rotational' if turns else 'flash'}" for name, turns in spins.items()]),
        "virtual disks and NVMe as flash, unless their host has spindles",
        *(f"echo 0 > {sh(f'/sys/block/{name}/queue/rotational')}" for name in wrong),
    )


def _check(system: System) -> Iterable[Verdict]:
    yield from each_volume(system, _judge)


RULE = Rule(
    name="rotational-flag",
    area="storage",
    scope="database",
    severity="low",
    looks_at="/sys/block/DISK/queue/rotational of virtual disks",
    wants="0 where a random read takes less than 1 ms, which `dyno io` measures",
    why="Paravirtual disks report that they spin. File systems, swap and tuning tools then avoid "
    "seeks that do not exist.",
    source=f"{LINUX}, block/queue-sysfs (rotational); {DYNO}",
    study="io-raid",
    check=_check,
)
