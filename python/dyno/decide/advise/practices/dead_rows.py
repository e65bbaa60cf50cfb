"""Dead rows: vacuum keeps up with the changes."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.advise.amounts import percent, some
from dyno.decide.advise.rule import Rule, Verdict, held
from dyno.decide.advise.sources import DYNO, POSTGRESQL
from dyno.decide.advise.system import System, inapplicable

MOST, FEWEST = 0.3, 10_000


def _check(system: System) -> Iterable[Verdict]:
    if not system.dialect.clean:
        raise inapplicable(f"{system.db.product} does not count old row versions by table")
    tables = [one for one in system.catalog("tables").tables if one.dead_rows is not None]
    if not tables:
        raise inapplicable(f"{system.db.product} does not count old row versions by table")
    shares = {
        table.name: table.dead_rows / (table.dead_rows + (table.rows or 0))
        for table in tables
        if table.dead_rows is not None and table.dead_rows >= FEWEST
    }
    worst = sorted(shares, key=lambda name: (-shares[name], name))
    bad = [name for name in worst if shares[name] > MOST]
    yield held(
        not bad,
        some([f"{name}: {percent(shares[name])}" for name in bad or worst]) or "hardly any",
        f"at most {percent(MOST)} of the rows of a table",
        *(system.dialect.clean.format(table=name) for name in bad[:3]),
    )


RULE = Rule(
    name="dead-rows",
    area="care",
    scope="database",
    severity="medium",
    looks_at="dead and live rows of each table",
    wants=f"at most {percent(MOST)} dead in tables with {FEWEST:,} dead rows and more",
    why="Scans read them, indexes point to them, and the cache holds them. A transaction that "
    "stays open for hours keeps vacuum from removing them.",
    source=f"{POSTGRESQL}, Routine Vacuuming (autovacuum acts at 20 %); {DYNO}",
    study="maintenance",
    check=_check,
)
