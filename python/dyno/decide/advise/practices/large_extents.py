"""Large extents: a large table grows by many extents in a row."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.advise.rule import Rule, Verdict, held
from dyno.decide.advise.sources import DSS
from dyno.decide.advise.system import System, inapplicable


def _check(system: System) -> Iterable[Verdict]:
    setting = system.term("large_extents")
    if system.known_work != "dss":
        raise inapplicable("it is for scans of large tables: decision support")
    yield held(
        setting.value is True,
        f"{setting.name} = {setting.shown}",
        "on",
        *system.mend("large_extents", True),
    )


RULE = Rule(
    name="large-extents",
    area="storage",
    scope="database",
    severity="low",
    looks_at="the start-up parameter for extents, for decision support",
    wants="on",
    why="With several files, each table then takes 64 extents (4 MB) of a file before the next "
    "one, so scans read longer stretches and read-ahead reads more at a time.",
    source=f"{DSS}, 6.1 and 7.3.1 (-E)",
    check=_check,
)
