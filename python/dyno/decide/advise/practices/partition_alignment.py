"""Partition alignment: a partition starts at a whole mebibyte."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.advise.amounts import MIB
from dyno.decide.advise.rule import Rule, Verdict, held
from dyno.decide.advise.sources import DSS, OLTP
from dyno.decide.advise.system import System, Volume
from dyno.decide.advise.volumes import each_volume, on_storage


def _judge(volume: Volume) -> Verdict:
    start = on_storage(volume).facts.number("offset_bytes")
    return held(
        start % MIB == 0,
        f"starts at byte {start:,.0f}" if start else "a whole disk",
        "a multiple of 1 MiB",
        "parted -a optimal DISK mkpart …    # this erases it: move the data away before",
    )


def _check(system: System) -> Iterable[Verdict]:
    yield from each_volume(system, _judge)


RULE = Rule(
    name="partition-alignment",
    area="storage",
    scope="database",
    severity="medium",
    looks_at="/sys/block/DISK/PARTITION/start × 512 B",
    wants="a multiple of 1 MiB",
    why="A page across two stripes or two flash blocks is two requests.",
    source=f"{OLTP}, 7.4.1; {DSS}, 7.3.2 (default alignment since Windows 2008: 1 MiB)",
    study="io-raid",
    check=_check,
)
