"""I/O scheduler: flash is not scheduled like a spindle."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.advise.amounts import sh, some
from dyno.decide.advise.rule import Rule, Verdict, held
from dyno.decide.advise.sources import DYNO, LINUX
from dyno.decide.advise.system import System, Volume
from dyno.decide.advise.volumes import each_volume

FLASH, SPINDLE = ("none", "mq-deadline", "kyber"), ("mq-deadline", "deadline")


def _judge(volume: Volume) -> Verdict:
    wrong: list[str] = []
    shown: list[str] = []
    commands: list[str] = []
    for disk in volume.disks:
        name, scheduler = disk.text("name"), disk.text("scheduler")
        spins = disk.switch("rotational") and not _virtual(name)
        shown.append(f"{name}: {scheduler}")
        if scheduler not in (SPINDLE if spins else FLASH):
            wrong.append(name)
            better = "mq-deadline" if spins else "none"
            commands.append(f"echo {better} > {sh(f'/sys/block/{name}/queue/scheduler')}")
    return held(
        not wrong,
        some(shown),
        "none, mq-deadline or kyber; mq-deadline for spinning disks",
        *commands,
    )


def _virtual(name: str) -> bool:
    """Paravirtual disks say that they spin, whatever they are; their host schedules them."""
    return name.startswith(("vd", "xvd"))


def _check(system: System) -> Iterable[Verdict]:
    yield from each_volume(system, _judge)


RULE = Rule(
    name="io-scheduler",
    area="storage",
    scope="database",
    severity="low",
    looks_at="/sys/block/DISK/queue/scheduler and rotational",
    wants="none, mq-deadline or kyber for flash and virtual disks; mq-deadline for spindles",
    why="bfq shares a disk fairly among programs, at a cost of CPU and throughput that a fast "
    "device feels. Without a scheduler, a spindle seeks in the order of arrival.",
    source=f"{LINUX}, block/; {DYNO}",
    study="io-raid",
    check=_check,
)
