"""Auto shrink: files do not shrink by themselves."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.advise.rule import Rule, Verdict, held
from dyno.decide.advise.sources import SQL_SERVER
from dyno.decide.advise.system import System


def _check(system: System) -> Iterable[Verdict]:
    setting = system.term("auto_shrink")
    yield held(
        setting.value is False,
        f"{setting.name} = {setting.shown}",
        "off",
        *system.mend("auto_shrink", False),
    )


RULE = Rule(
    name="auto-shrink",
    area="storage",
    scope="database",
    severity="medium",
    looks_at="whether files shrink by themselves",
    wants="off",
    why="Shrinking moves pages to the front of a file, which fragments indexes, and the file grows "
    "again with the next load. Both cost I/O at times that nobody chose.",
    source=f"{SQL_SERVER}, ALTER DATABASE SET (AUTO_SHRINK)",
    study="load-streams",
    check=_check,
)
