"""Temp files: the temporary database has enough files for its CPUs."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.advise.amounts import plural
from dyno.decide.advise.rule import Rule, Verdict, held, tested
from dyno.decide.advise.settings import sets
from dyno.decide.advise.sources import FAST_TRACK, SQL_SERVER
from dyno.decide.advise.system import System

MOST = 8


def _check(system: System) -> Iterable[Verdict]:
    found, cpus = int(system.amount("temp_files")), system.cpus
    wanted = min(cpus, MOST)
    yield tested(
        held(
            found >= wanted,
            f"{plural(found, 'file')} on {plural(cpus, 'CPU')}",
            f"at least {wanted}",
            *system.mend("temp_files", wanted),
        ),
        sets("temp_files", wanted),
    )
    sizes = int(system.amount("temp_file_sizes"))
    yield held(
        sizes <= 1,
        f"{plural(sizes, 'size')} of {plural(found, 'file')}",
        "all of one size",
        *system.mend("temp_file_sizes", 1),
    ).of("sizes")


RULE = Rule(
    name="temp-files",
    area="storage",
    scope="database",
    severity="medium",
    looks_at="data files of the temporary database, and usable CPUs",
    wants=f"one for each CPU, up to {MOST}, of the same size",
    why="Each file has its own allocation pages. With too few files, sessions that create and "
    "drop temporary tables wait for the same page, however fast the storage is.",
    source=f"{FAST_TRACK} (eight files); {SQL_SERVER}, tempdb database",
    study="settings",
    check=_check,
)
