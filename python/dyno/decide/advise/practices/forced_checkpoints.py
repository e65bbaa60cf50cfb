"""Forced checkpoints: the clock starts checkpoints, not a full log."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.advise.amounts import percent
from dyno.decide.advise.rule import Rule, Verdict, held, tested
from dyno.decide.advise.settings import sets
from dyno.decide.advise.sources import DYNO, POSTGRESQL
from dyno.decide.advise.system import System, inapplicable

MOST, FEWEST = 0.5, 6


def _check(system: System) -> Iterable[Verdict]:
    forced, timed = system.counter("checkpoints_forced"), system.counter("checkpoints_timed")
    if forced + timed < FEWEST:
        raise inapplicable(f"there were only {forced + timed:.0f} checkpoints so far")
    share = forced / (forced + timed)
    yield tested(
        held(
            share <= MOST,
            f"{percent(share)} of {forced + timed:,.0f} checkpoints were forced",
            f"at most {percent(MOST)}",
            *system.mend("log_capacity", 2 * system.amount("log_capacity")),
        ),
        sets("log_capacity", 2 * system.amount("log_capacity")),
    )


RULE = Rule(
    name="forced-checkpoints",
    area="log",
    scope="database",
    severity="medium",
    looks_at="checkpoints by time and by request since the counters began",
    wants=f"at most {percent(MOST)} by request",
    why="A forced checkpoint writes as fast as it can, and the next one comes soon: the first "
    "change of each page after it logs the full page. Backups and shutdowns also request some.",
    source=f"{POSTGRESQL}, WAL Configuration; {DYNO}",
    study="users",
    check=_check,
)
