"""Cache size: the server uses the memory that it could have."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.advise.amounts import MIB, binary
from dyno.decide.advise.rule import Rule, Verdict, held, tested
from dyno.decide.advise.settings import sets
from dyno.decide.advise.sources import MYSQL, POSTGRESQL, SQL_SERVER
from dyno.decide.advise.system import GapError, System, inapplicable

LEAST = 128 * MIB


def _check(system: System) -> Iterable[Verdict]:
    share = system.dialect.cache_share
    if share is None:
        raise inapplicable(f"{system.db.product} sizes its cache itself")
    cache, wanted = system.amount("cache"), share * system.memory_bytes
    words = f"at least {binary(wanted)}, {100 * share:g} % of the memory"
    try:
        data = system.counter("databases_bytes")
    except GapError:  # then the memory alone decides
        data = wanted
    if data < wanted:
        wanted = max(data, LEAST)
        words = f"at least {binary(wanted)}, the size of all databases"
    most = system.dialect.most_cache(system.db.version)
    if most is not None and most < wanted:
        wanted = most
        words = f"at least {binary(wanted)}, the most that its edition uses"
    name = system.term("cache").name
    # Servers round it up or down to whole chunks.
    yield tested(
        held(
            cache >= 0.95 * wanted,
            f"{name} {binary(cache)}",
            words,
            *system.mend("cache", wanted),
        ),
        sets("cache", wanted),
    )


RULE = Rule(
    name="cache-size",
    area="memory",
    scope="database",
    severity="high",
    looks_at="the cache of pages, the memory and the size of all databases",
    wants="25 % of the memory (PostgreSQL), 50 % (InnoDB) or 75 % (SQL Server); less if all of the "
    "data is less, or if the edition uses less",
    why="Pages that are not in the cache are read from the volume, or at least copied from the "
    "page cache.",
    source=f"{POSTGRESQL}, Resource Consumption (shared_buffers: 25 %); {MYSQL}, InnoDB Buffer "
    f"Pool (50 to 75 %); {SQL_SERVER}, Server memory configuration (75 %)",
    study="settings",
    check=_check,
)
