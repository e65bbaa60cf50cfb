"""Auto close: the database stays open when its last session ends."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.advise.rule import Rule, Verdict, held
from dyno.decide.advise.sources import SQL_SERVER
from dyno.decide.advise.system import System


def _check(system: System) -> Iterable[Verdict]:
    setting = system.term("auto_close")
    yield held(
        setting.value is False,
        f"{setting.name} = {setting.shown}",
        "off",
        *system.mend("auto_close", False),
    )


RULE = Rule(
    name="auto-close",
    area="care",
    scope="database",
    severity="medium",
    looks_at="whether the database closes with its last session",
    wants="off",
    why="Closing empties the cache of the database, and the next session waits until it is open "
    "again. Applications that connect for each statement pay this every time.",
    source=f"{SQL_SERVER}, ALTER DATABASE SET (AUTO_CLOSE)",
    check=_check,
)
