"""Autovacuum: old row versions are removed."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.advise.rule import Rule, Verdict, held
from dyno.decide.advise.sources import POSTGRESQL
from dyno.decide.advise.system import System


def _check(system: System) -> Iterable[Verdict]:
    setting = system.term("autovacuum")
    yield held(
        setting.value is True,
        f"{setting.name} = {setting.shown}",
        "on",
        *system.mend("autovacuum", True),
    )


RULE = Rule(
    name="autovacuum",
    area="care",
    scope="database",
    severity="high",
    looks_at="whether old row versions are removed automatically",
    wants="on",
    why="Without it, tables and indexes bloat, statistics become stale, and the server finally "
    "stops accepting writes to prevent transaction ID wraparound.",
    source=f"{POSTGRESQL}, Routine Vacuuming",
    study="maintenance",
    check=_check,
)
