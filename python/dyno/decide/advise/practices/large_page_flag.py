"""Large page flag: no large-page allocations beside column stores."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.advise.amounts import plural
from dyno.decide.advise.rule import Rule, Verdict, held
from dyno.decide.advise.sources import FAST_TRACK
from dyno.decide.advise.system import System


def _check(system: System) -> Iterable[Verdict]:
    setting = system.term("large_page_flag")
    columns = int(system.amount("column_store_columns"))
    yield held(
        setting.value is False,
        f"{setting.name} = {setting.shown}, with a column store of {plural(columns, 'column')}",
        "off",
        *system.mend("large_page_flag", False),
    )


RULE = Rule(
    name="large-page-flag",
    area="memory",
    scope="database",
    severity="low",
    looks_at="the trace flag for large pages, in a database with column stores",
    wants="off; for tables in rows alone it may help",
    why="With large pages the server takes all of its memory when it starts and moves it in large "
    "pieces, which does not suit the segments of column stores.",
    source=f"{FAST_TRACK} (-T834 for row stores only)",
    study="columnstore-tables",
    check=_check,
)
