"""Read-ahead: as much as the work reads in sequence."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.advise.amounts import MIB, binary, sh
from dyno.decide.advise.rule import Rule, Verdict, held
from dyno.decide.advise.sources import DYNO, LINUX
from dyno.decide.advise.system import System, Volume, inapplicable
from dyno.decide.advise.volumes import each_volume

OLTP_MOST, DSS_LEAST = MIB, MIB
"""One value suits both."""


def _check(system: System) -> Iterable[Verdict]:
    work = system.known_work
    if work == "load":
        raise inapplicable("a load writes")

    def judge(volume: Volume) -> Verdict:
        if not {*volume.roles} & {"data", "folder"} and not volume.roles[0].startswith("part"):
            raise inapplicable("the volume has no data files")
        sizes = {disk.text("name"): disk.number("read_ahead_bytes") for disk in volume.disks}
        ok = [size <= OLTP_MOST if work == "oltp" else size >= DSS_LEAST for size in sizes.values()]
        return held(
            all(ok),
            ", ".join(f"{name}: {binary(size)}" for name, size in sizes.items()),
            f"at most {binary(OLTP_MOST)}" if work == "oltp" else f"at least {binary(DSS_LEAST)}",
            *(
                f"echo {MIB // 1024} > {sh(f'/sys/block/{name}/queue/read_ahead_kb')}"
                for name in sizes
            ),
        )

    yield from each_volume(system, judge)


RULE = Rule(
    name="read-ahead",
    area="storage",
    scope="database",
    severity="low",
    looks_at="/sys/block/DISK/queue/read_ahead_kb",
    wants="at most 1 MiB for transactions, at least 1 MiB for decision support",
    why="Scans through the page cache are as fast as the kernel reads ahead. Index lookups throw "
    "most of what is read ahead away.",
    source=f"{LINUX}, block/queue-sysfs (read_ahead_kb); {DYNO}",
    study="io-raid",
    check=_check,
)
