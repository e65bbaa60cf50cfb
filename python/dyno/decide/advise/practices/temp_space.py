"""Temp space: the largest sort fits."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable

from dyno.config.units import bytes_text
from dyno.decide.advise.rule import Rule, Verdict, held
from dyno.decide.advise.sources import DSS
from dyno.decide.advise.system import GapError, System

SHARE = 0.10


def wanted_bytes(databases: float, largest_table: float) -> float:
    """10 % of all databases, or the size of the largest table if that is more."""
    return max(SHARE * databases, largest_table)


def _check(system: System) -> Iterable[Verdict]:
    databases = system.counter("databases_bytes")
    tables = [table.bytes or 0 for table in system.catalog("tables").tables]
    wanted = wanted_bytes(databases, max(tables, default=0))
    free = system.volume("temp").facts.number("free_bytes")
    words = f"{bytes_text(free)} free for temporary files"
    limit = 0.0
    with contextlib.suppress(GapError):  # it has no limit of its own
        limit = system.amount("temp_limit")
    if 0 < limit < free:
        name = system.term("temp_limit").name
        yield held(
            limit >= wanted,
            f"{name} {bytes_text(limit)}",
            f"at least {bytes_text(wanted)}",
            *system.mend("temp_limit", wanted),
        )
        return
    yield held(free >= wanted, words, f"at least {bytes_text(wanted)}", *system.dialect.move_temp)


RULE = Rule(
    name="temp-space",
    area="storage",
    scope="database",
    severity="medium",
    looks_at="free space and the limit of temporary files, sizes of all databases and tables",
    wants="10 % of all databases, or the size of the largest table if that is more",
    why="A sort, a hash or an index of the largest table fails without it, after hours of work.",
    source=f"{DSS}, 7.3.6",
    study="memory-cap",
    check=_check,
)
