"""Unlogged tables: a crash empties no table that is needed."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.advise.amounts import plural, some
from dyno.decide.advise.rule import Rule, Verdict, held
from dyno.decide.advise.sources import POSTGRESQL
from dyno.decide.advise.system import System, inapplicable


def _check(system: System) -> Iterable[Verdict]:
    if not system.dialect.log_table:
        raise inapplicable(f"{system.db.product} logs every table")
    tables = system.catalog("tables").tables
    bare = [table.name for table in tables if table.logged is False]
    yield held(
        not bare,
        f"{plural(len(bare), 'unlogged table')}: {some(bare)}" if bare else "all are logged",
        "none",
        *(system.dialect.log_table.format(table=name) for name in bare[:3]),
    )


RULE = Rule(
    name="unlogged-tables",
    area="durability",
    scope="database",
    severity="high",
    looks_at="the persistence of each table",
    wants="no unlogged table",
    why="PostgreSQL empties an unlogged table after a crash, and no replica or backup of the log "
    "has it. For data that can be made again, that is what you want: then leave it.",
    source=f"{POSTGRESQL}, CREATE TABLE (UNLOGGED)",
    check=_check,
)
