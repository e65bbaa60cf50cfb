"""Instant files: data files grow without being filled with zeroes."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.advise.rule import Rule, Verdict, held
from dyno.decide.advise.sources import FAST_TRACK, SQL_SERVER
from dyno.decide.advise.system import System


def _check(system: System) -> Iterable[Verdict]:
    setting = system.term("instant_files")
    yield held(
        setting.value is True,
        f"{setting.name} = {setting.shown}",
        "on",
        *system.mend("instant_files", True),
    )


RULE = Rule(
    name="instant-files",
    area="storage",
    scope="database",
    severity="medium",
    looks_at="whether the server may extend data files without writing them",
    wants="yes",
    why="Otherwise the server writes zeroes to all new space of a data file, and the session that "
    "needs the space waits. Creating and restoring a large database takes as long as writing it.",
    source=f"{FAST_TRACK} (perform volume maintenance tasks); {SQL_SERVER}, Instant File "
    "Initialization",
    study="load-streams",
    check=_check,
)
