"""Planner cache: plans assume the memory that there is."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.advise.amounts import binary, percent
from dyno.decide.advise.rule import Rule, Verdict, held
from dyno.decide.advise.sources import DYNO, POSTGRESQL
from dyno.decide.advise.system import System

LEAST, MOST = 0.4, 1.0


def _check(system: System) -> Iterable[Verdict]:
    setting, found = system.term("planner_cache"), system.amount("planner_cache")
    memory = system.memory_bytes
    yield held(
        LEAST * memory <= found <= MOST * memory,
        f"{setting.name} {binary(found)}, {percent(found / memory)} of {binary(memory)}",
        f"{percent(LEAST)} to {percent(MOST)}, {binary(LEAST * memory)} or more",
        *system.mend("planner_cache", 0.7 * memory),
    )


RULE = Rule(
    name="planner-cache",
    area="plans",
    scope="database",
    severity="low",
    looks_at="the cache that the planner assumes, and the memory",
    wants=f"{percent(LEAST)} to {percent(MOST)} of the memory",
    why="It allocates nothing. Too low a value makes index scans look dearer than they are.",
    source=f"{POSTGRESQL}, effective_cache_size; {DYNO}",
    study="settings",
    check=_check,
)
