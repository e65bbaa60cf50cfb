"""Query cache: statements do not queue for a cache of results."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.advise.rule import Rule, Verdict, held
from dyno.decide.advise.sources import MARIADB
from dyno.decide.advise.system import System, inapplicable


def _check(system: System) -> Iterable[Verdict]:
    setting = system.term("query_cache")
    if system.db.settings.get("query_cache_size") == "0":
        raise inapplicable("its size is 0")
    yield held(
        setting.value is False,
        f"{setting.name} = {setting.shown}",
        "OFF",
        *system.mend("query_cache", False),
    )


RULE = Rule(
    name="query-cache",
    area="plans",
    scope="database",
    severity="medium",
    looks_at="the cache of results",
    wants="off",
    why="One lock guards it, and each change of a table removes all results of the table: it does "
    "not scale with CPUs.",
    source=f"{MARIADB}, Query Cache",
    study="users",
    check=_check,
)
