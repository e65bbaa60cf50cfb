"""Table statistics: plans are made from statistics, not from guesses."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.advise.amounts import plural, some
from dyno.decide.advise.rule import Rule, Verdict, held
from dyno.decide.advise.sources import POSTGRESQL
from dyno.decide.advise.system import System, inapplicable, unreadable


def _check(system: System) -> Iterable[Verdict]:
    tables = [table for table in system.catalog("tables").tables if table.rows]
    if not tables:
        raise inapplicable("no table has rows")
    known = [table for table in tables if table.analysed is not None]
    if not known:
        raise unreadable("this account lacks permission to read table statistics")
    bare = [table.name for table in known if not table.analysed]
    yield held(
        not bare,
        f"{plural(len(bare), 'table')} without: {some(bare)}"
        if bare
        else f"{plural(len(known), 'table')} with statistics",
        "statistics of every table with rows",
        *(system.dialect.analyse.format(table=name) for name in bare[:3]),
    )


RULE = Rule(
    name="table-statistics",
    area="plans",
    scope="database",
    severity="high",
    looks_at="tables with rows that were never analysed",
    wants="none",
    why="Without statistics the planner guesses selectivity, which leads to nested loops over "
    "large tables.",
    source=f"{POSTGRESQL}, Statistics Used by the Planner",
    check=_check,
)
