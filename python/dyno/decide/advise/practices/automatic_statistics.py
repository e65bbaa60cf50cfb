"""Automatic statistics: statistics follow the data."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.advise.rule import Rule, Verdict, held
from dyno.decide.advise.sources import MYSQL, POSTGRESQL
from dyno.decide.advise.system import System


def _check(system: System) -> Iterable[Verdict]:
    setting = system.term("statistics")
    yield held(
        setting.value is True,
        f"{setting.name} = {setting.shown}",
        "on",
        *system.mend("statistics", True),
    )


RULE = Rule(
    name="automatic-statistics",
    area="plans",
    scope="database",
    severity="high",
    looks_at="whether changes are counted, so that statistics are gathered anew",
    wants="on",
    why="Otherwise plans rest on the statistics of the last manual ANALYZE, and autovacuum in "
    "PostgreSQL does not know which tables need it.",
    source=f"{POSTGRESQL}, track_counts; {MYSQL}, innodb_stats_auto_recalc",
    check=_check,
)
