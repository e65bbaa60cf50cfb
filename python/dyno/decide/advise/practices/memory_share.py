"""Memory share: the server leaves memory to the operating system."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.advise.amounts import binary, percent
from dyno.decide.advise.rule import Rule, Verdict, held
from dyno.decide.advise.sources import DSS
from dyno.decide.advise.system import System

MOST = 0.92


def _check(system: System) -> Iterable[Verdict]:
    cache, memory = system.amount("cache"), system.memory_bytes
    name = system.term("cache").name
    yield held(
        cache <= MOST * memory,
        f"{name} {binary(cache)}, {percent(cache / memory)} of {binary(memory)}",
        f"at most {percent(MOST)}, {binary(MOST * memory)}",
        *system.mend("cache", (system.dialect.cache_share or MOST) * memory),
    )


RULE = Rule(
    name="memory-share",
    area="memory",
    scope="database",
    severity="high",
    looks_at="memory that the server takes for itself, and the memory it may use",
    wants=f"at most {percent(MOST)} of the memory",
    why="The kernel, sessions and backups need the rest. Without it the machine swaps, or the "
    "kernel kills the server.",
    source=f"{DSS}, 6.1 and 7.3.1 (Fast Track 4.0: 117.76 of 128 GB)",
    study="memory-cap",
    check=_check,
)
