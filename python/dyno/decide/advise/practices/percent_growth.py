"""Percent growth: files grow by a fixed amount."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.advise.amounts import plural
from dyno.decide.advise.rule import Rule, Verdict, held
from dyno.decide.advise.sources import DSS, OLTP
from dyno.decide.advise.system import System


def _check(system: System) -> Iterable[Verdict]:
    count = int(system.amount("fixed_growth"))
    yield held(
        count == 0,
        f"{plural(count, 'file')} {'grows' if count == 1 else 'grow'} in percent",
        "none",
        *system.mend("fixed_growth", 0),
    )


RULE = Rule(
    name="percent-growth",
    area="storage",
    scope="database",
    severity="low",
    looks_at="the growth of each file of the database",
    wants="a fixed amount",
    why="A percentage grows with the file: first by too little, which fragments it, and later by "
    "so much that sessions wait. A log is filled with zeroes while it grows.",
    source=f"{DSS}, 7.3.6 and table 11; {OLTP}, 7.4.7",
    study="load-streams",
    check=_check,
)
