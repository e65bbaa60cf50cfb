"""File-system block: a page of the database is a whole number of blocks."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.advise.amounts import binary
from dyno.decide.advise.rule import Rule, Verdict, held
from dyno.decide.advise.sources import DSS, OLTP
from dyno.decide.advise.system import GapError, System, Volume
from dyno.decide.advise.volumes import each_volume, on_storage

LEAST = 4096
_PAGE = 8192
"""Of most row stores, if the database's own is unknown."""


def _check(system: System) -> Iterable[Verdict]:
    try:
        page = system.amount("page")
    except GapError:
        page = _PAGE

    def judge(volume: Volume) -> Verdict:
        block = on_storage(volume).facts.number("block_bytes")
        disks = [disk.get("physical_block_bytes") or 0 for disk in volume.disks]
        least = max([LEAST, *disks])
        return held(
            block >= least and page % block == 0,
            f"blocks of {binary(block)}, pages of {binary(page)}",
            f"blocks of {binary(least)} or more that divide a page",
            f"mkfs.ext4 -b {least:.0f} DEVICE    # this erases it: move the data away before",
        )

    yield from each_volume(system, judge)


RULE = Rule(
    name="file-system-block",
    area="storage",
    scope="database",
    severity="medium",
    looks_at="block size of the file system, of the disks, and the page of the database",
    wants="at least 4 KiB and at least that of the disks, and a divisor of the page",
    why="A smaller block makes a device read before it writes; one that does not divide a "
    "page turns one write into two. Linux has no blocks above 4 KiB on most machines: the 64 KiB "
    "recommended for NTFS are allocation units, which ext4 and xfs replace by extents.",
    source=f"{DSS}, 7.3.2; {OLTP}, 7.4.1",
    study="io-raid",
    check=_check,
)
