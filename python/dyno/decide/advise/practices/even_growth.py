"""Even growth: the files of a filegroup grow together."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.advise.amounts import plural
from dyno.decide.advise.rule import Rule, Verdict, held
from dyno.decide.advise.sources import DSS, SQL_SERVER
from dyno.decide.advise.system import System


def _check(system: System) -> Iterable[Verdict]:
    count = int(system.amount("even_growth"))
    found = plural(count, "filegroup")
    yield held(
        count == 0,
        f"{found} with several files {'grows' if count == 1 else 'grow'} one file at a time",
        "none",
        *system.mend("even_growth", 0),
    )


RULE = Rule(
    name="even-growth",
    area="storage",
    scope="database",
    severity="low",
    looks_at="filegroups with several files, and whether these grow together",
    wants="yes",
    why="New rows go to the file with the most free space. If one file grows alone, it takes all "
    "writes and the other volumes idle. Trace flag 1117 did this before SQL Server 2016.",
    source=f"{DSS}, 6.1 and 7.3.1 (-T1117); {SQL_SERVER}, AUTOGROW_ALL_FILES",
    study="file-layout",
    check=_check,
)
