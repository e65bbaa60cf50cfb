"""Log shrink: log files are kept and used again, not removed and made anew."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.advise.amounts import binary, percent
from dyno.decide.advise.rule import Rule, Verdict, held
from dyno.decide.advise.sources import DYNO, OLTP, POSTGRESQL
from dyno.decide.advise.system import System

SHARE = 0.25


def _check(system: System) -> Iterable[Verdict]:
    floor, most = system.amount("log_floor"), system.amount("log_capacity")
    setting = system.term("log_floor")
    yield held(
        floor >= SHARE * most,
        f"{setting.name} {binary(floor)} of {binary(most)}",
        f"at least {percent(SHARE)}, {binary(SHARE * most)}",
        *system.mend("log_floor", SHARE * most),
    )


RULE = Rule(
    name="log-shrink",
    area="log",
    scope="database",
    severity="low",
    looks_at="the size to which the log shrinks, and the one to which it grows",
    wants=f"at least {percent(SHARE)} of it stays",
    why="Below that size files are kept; above it they are removed in quiet hours and written in "
    "full again when the load comes: that is growth while users wait.",
    source=f"{OLTP}, 7.4.6 (no automatic shrinking); {POSTGRESQL}, min_wal_size; {DYNO}",
    check=_check,
)
