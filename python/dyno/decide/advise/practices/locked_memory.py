"""Locked memory: the operating system cannot page out a large cache."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.advise.amounts import GIB, binary
from dyno.decide.advise.rule import Rule, Verdict, held
from dyno.decide.advise.sources import DSS, FAST_TRACK
from dyno.decide.advise.system import System, inapplicable

LEAST = 2 * GIB


def _check(system: System) -> Iterable[Verdict]:
    setting, cache = system.term("locked_memory"), system.amount("cache")
    if cache < LEAST:
        raise inapplicable(f"the cache of {binary(cache)} is smaller than {binary(LEAST)}")
    yield held(
        setting.value is True,
        f"{setting.name} = {setting.shown}",
        "locked",
        *system.mend("locked_memory", True),
    )


RULE = Rule(
    name="locked-memory",
    area="memory",
    scope="database",
    severity="medium",
    looks_at="how the server allocates its memory",
    wants=f"locked, for a cache of {binary(LEAST)} and more",
    why="Under pressure the operating system pages out the cache. Each page that the server then "
    "needs is read twice: from the page file and, if it changed meanwhile, from the database.",
    source=f"{DSS}, 6.1 and 7.3.1 (lock pages in memory); {FAST_TRACK}",
    check=_check,
)
