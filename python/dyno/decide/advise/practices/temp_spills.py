"""Temp spills: sorts and hashes fit into their memory."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.config.units import bytes_text
from dyno.decide.advise.amounts import GIB, binary
from dyno.decide.advise.rule import Rule, Verdict, held, tested
from dyno.decide.advise.settings import sets
from dyno.decide.advise.sources import DSS, DYNO
from dyno.decide.advise.system import System, inapplicable

MOST, LEAST_S = GIB, 600.0
"""Bytes an hour; seconds before the mean says something."""


def _check(system: System) -> Iterable[Verdict]:
    seconds = system.counter("counted_s")
    spilled = system.counter("temp_bytes")
    if seconds < LEAST_S:
        raise inapplicable(f"the counters began only {seconds:.0f} s ago")
    hourly = 3600 * spilled / seconds
    work = system.amount("work_memory")
    yield tested(
        held(
            hourly <= MOST,
            f"{bytes_text(hourly)} of temporary files an hour with {binary(work)} a sort",
            f"at most {binary(MOST)} an hour",
            *system.mend("work_memory", 4 * work),
            "-- for the sessions of reports alone: ALTER ROLE … SET, and see session-memory",
        ),
        sets("work_memory", 4 * work),
    )


RULE = Rule(
    name="temp-spills",
    area="plans",
    scope="database",
    severity="medium",
    looks_at="bytes of temporary files since the counters began",
    wants="at most 1 GiB an hour",
    why="A sort or hash that does not fit is written to the volume and read again.",
    source=f"{DSS}, 7.3.6; {DYNO}",
    study="settings",
    check=_check,
)
