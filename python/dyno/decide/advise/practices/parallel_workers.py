"""Parallel workers: a query has no more workers than there are CPUs."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.advise.amounts import plural
from dyno.decide.advise.rule import Rule, Verdict, held, tested
from dyno.decide.advise.settings import sets
from dyno.decide.advise.sources import POSTGRESQL
from dyno.decide.advise.system import System


def _check(system: System) -> Iterable[Verdict]:
    setting, found, cpus = system.term("parallel"), system.amount("parallel"), system.cpus
    serial = system.work == "dss" and cpus > 1 and found < 1
    yield tested(
        held(
            found <= cpus and not serial,
            f"{setting.name} = {setting.shown} on {plural(cpus, 'CPU')}",
            f"1 to {cpus}" if system.work == "dss" and cpus > 1 else f"at most {cpus}",
            *system.mend("parallel", cpus),
        ),
        sets("parallel", cpus),
    )


RULE = Rule(
    name="parallel-workers",
    area="cpu",
    scope="database",
    severity="low",
    looks_at="workers of one query, and usable CPUs",
    wants="at most as many as CPUs; for decision support at least one",
    why="More workers than CPUs wait for each other and hold memory each. Without any, a large "
    "query uses one CPU.",
    source=f"{POSTGRESQL}, Parallel Query",
    study="parallelism",
    check=_check,
)
