"""File system: data and log are on storage of this machine."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.advise.rule import Rule, Verdict, held
from dyno.decide.advise.sources import POSTGRESQL
from dyno.decide.advise.system import System, Volume
from dyno.decide.advise.volumes import each_volume

_WHY = {
    "memory": "a restart of the machine loses it",
    "network": "a sync waits for the network and for another machine",
    "layered": "the first write to a file copies all of it",
    "user": "each request passes through a program",
}


def _judge(volume: Volume) -> Verdict:
    kind, name = volume.facts.text("fs_kind"), volume.facts.text("fs_type")
    only_temp = set(volume.roles) <= {"temp", "folder"}
    return held(
        kind == "disk" or (kind == "memory" and only_temp),
        f"{name}: {_WHY[kind]}" if kind in _WHY else name,
        "a file system on a block device, such as ext4 or xfs",
        "# stop the server, move its folder to a local volume, and start it from there",
    )


def _check(system: System) -> Iterable[Verdict]:
    yield from each_volume(system, _judge)


RULE = Rule(
    name="file-system",
    area="storage",
    scope="database",
    severity="high",
    looks_at="the file system under data, log and temporary files",
    wants="one on a block device; temporary files may be in memory",
    why="Data on tmpfs is lost at a restart. Network, layered and user-space file systems are slow "
    "to sync, and some do not keep what was synced.",
    source=f"{POSTGRESQL}, Creating a Database Cluster (Use of Secondary File Systems, NFS)",
    study="io-raid",
    check=_check,
)
