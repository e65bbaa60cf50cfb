"""Write barriers: a sync reaches the media."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.advise.amounts import sh
from dyno.decide.advise.rule import Rule, Verdict, held
from dyno.decide.advise.sources import LINUX, POSTGRESQL
from dyno.decide.advise.system import System, Volume, inapplicable
from dyno.decide.advise.volumes import each_volume, on_storage

_OFF = {"nobarrier", "barrier=0"}


def _judge(volume: Volume) -> Verdict:
    options = {*on_storage(volume).facts.words("options")}
    if set(volume.roles) <= {"temp"}:
        raise inapplicable("temporary files need no durability")
    caches = [disk.text("write_cache") for disk in volume.disks]
    volatile = "write back" in caches
    off = sorted(options & _OFF)
    return held(
        not off or not volatile,
        f"{', '.join(off) or 'barriers on'}; write cache of the disk: {', '.join(set(caches))}",
        "barriers on where the disk has a volatile cache",
        f"mount -o remount,barrier {sh(volume.facts.text('mount_point'))}",
    )


def _check(system: System) -> Iterable[Verdict]:
    yield from each_volume(system, _judge)


RULE = Rule(
    name="write-barriers",
    area="durability",
    scope="database",
    severity="high",
    looks_at="mount options, and the write cache of the disks",
    wants="barriers on (no nobarrier, no barrier=0) on disks with a volatile write cache",
    why="Otherwise the file system reports a sync as done while data is in the disk's cache. A "
    "power failure loses commits and may corrupt the database.",
    source=f"{LINUX}, filesystems/ext4; {POSTGRESQL}, Reliability",
    check=_check,
)
