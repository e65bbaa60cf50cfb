"""RAID level: one that suits the work."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.advise.rule import Rule, Verdict, held
from dyno.decide.advise.sources import DSS, OLTP
from dyno.decide.advise.system import System, Volume, inapplicable
from dyno.decide.advise.volumes import each_volume, on_storage

PENALTY = {"raid0": 1, "raid1": 2, "raid10": 2, "raid4": 4, "raid5": 4, "raid6": 6}
"""Back-end writes of one small write: a mirror 2, parity 4, double parity 6."""


def _check(system: System) -> Iterable[Verdict]:
    def judge(volume: Volume) -> Verdict:
        layers = on_storage(volume).facts.words("layers")
        level = next((layer for layer in layers if layer in PENALTY), None)
        if level is None:
            raise inapplicable("Linux has no RAID here, and does not see that of a controller")
        temp = set(volume.roles) <= {"temp"}
        parity = PENALTY[level] > 2
        writes = system.work == "oltp" or "log" in volume.roles
        ok = (level != "raid0" or temp) and not (parity and writes)
        return held(
            ok,
            f"{level}: write penalty {PENALTY[level]}",
            "RAID 10 for transactions and logs; RAID 5, 50 or 10 for decision support",
            "mdadm --create /dev/mdX --level=10 --raid-devices=N DISK…    # move the data there",
        )

    yield from each_volume(system, judge)


RULE = Rule(
    name="raid-level",
    area="storage",
    scope="database",
    severity="high",
    looks_at="/sys/block/mdX/md/level below the volumes",
    wants="no RAID 0 for data and logs, no parity under random writes",
    why="A small write to RAID 5 costs four requests, to RAID 6 six, to a mirror two. RAID 0 loses "
    "all at the first broken disk.",
    source=f"{DSS}, 7.1 (RAID 50); {OLTP}, 5 (RAID 10)",
    study="io-raid",
    check=_check,
)
