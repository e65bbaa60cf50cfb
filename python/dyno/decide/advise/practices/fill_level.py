"""Fill level: a volume is at most 85 % full."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.advise.amounts import percent
from dyno.decide.advise.rule import Rule, Verdict, held
from dyno.decide.advise.sources import OLTP
from dyno.decide.advise.system import System, Volume
from dyno.decide.advise.volumes import each_volume

MOST = 0.85


def _judge(volume: Volume) -> Verdict:
    size, free = volume.facts.number("size_bytes"), volume.facts.number("free_bytes")
    filled = 1 - free / size if size else 1.0
    return held(
        filled <= MOST,
        f"{percent(filled)} full",
        f"at most {percent(MOST)}",
        "# remove or move files, or enlarge the volume: lvextend --resizefs -L +SIZE VOLUME",
    )


def _check(system: System) -> Iterable[Verdict]:
    yield from each_volume(system, _judge)


RULE = Rule(
    name="fill-level",
    area="storage",
    scope="database",
    severity="medium",
    looks_at="size and free space of the file systems under data, log and temporary files",
    wants="at most 85 % full",
    why="A published array fell from 5,037 to 4,175 IOPS between 40 and 85 % of its space. File "
    "systems fragment new files, and flash collects garbage more often.",
    source=f"{OLTP}, 5.1",
    study="io-fill",
    check=_check,
)
