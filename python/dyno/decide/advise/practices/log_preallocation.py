"""Log preallocation: log files have their space before commits need it."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.advise.rule import Rule, Verdict, held
from dyno.decide.advise.sources import DSS, OLTP, POSTGRESQL
from dyno.decide.advise.system import System

_COPYING = ("btrfs", "zfs")
"""File systems that write a block to a new place each time."""


def _check(system: System) -> Iterable[Verdict]:
    setting = system.term("log_preallocated")
    kind = system.volume("log").facts.text("fs_type")
    wanted = kind not in _COPYING
    yield held(
        setting.value is wanted,
        f"{setting.name} = {setting.shown} on {kind}",
        "on" if wanted else f"off on {kind}",
        *system.mend("log_preallocated", wanted),
    )


RULE = Rule(
    name="log-preallocation",
    area="log",
    scope="database",
    severity="medium",
    looks_at="whether new log files are written in full, and the file system of the log",
    wants="on; off on file systems that copy on write",
    why="Otherwise each commit also allocates space, and its sync writes the metadata of the file "
    "system. On btrfs and zfs preallocation does not help: each write goes to a new place.",
    source=f"{POSTGRESQL}, wal_init_zero; {DSS}, 6.1 and 7.3.5; {OLTP}, 7.4.6",
    check=_check,
)
