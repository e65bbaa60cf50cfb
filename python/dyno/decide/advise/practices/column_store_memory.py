"""Column store memory: a query may have the memory to build a column store."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.advise.amounts import binary, plural
from dyno.decide.advise.columnstore.memory import needed
from dyno.decide.advise.rule import Rule, Verdict, held
from dyno.decide.advise.sources import DSS
from dyno.decide.advise.system import System


def _check(system: System) -> Iterable[Verdict]:
    columns, given = int(system.amount("column_store_columns")), system.amount("build_memory")
    threads = int(system.amount("query_cpus")) or system.cpus
    wanted = needed(columns, threads)
    fits = max(1, int(given // needed(columns, 1)))
    yield held(
        given >= wanted,
        f"{binary(given)} for a query; {plural(columns, 'column')} and {plural(threads, 'thread')}",
        f"at least {binary(wanted)}, or {plural(fits, 'thread')}",
        *(system.mend("query_cpus", fits) if fits < threads else ()),
        *system.mend("build_memory", wanted),
    )


RULE = Rule(
    name="column-store-memory",
    area="memory",
    scope="database",
    severity="medium",
    looks_at="columns of the widest column store, CPUs of a query, and the memory that one may "
    "have",
    wants="8 MB for each column and thread",
    why="With less, the build uses fewer threads or smaller segments, which compress worse and "
    "skip less; or it fails for want of memory.",
    source=f"{DSS}, 6.3 and 7.3.7",
    study="columnstore-tables",
    check=_check,
)
