"""Parallel cost: cheap queries run in one thread."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.advise.rule import Rule, Verdict, held
from dyno.decide.advise.sources import DYNO, SQL_SERVER
from dyno.decide.advise.system import System, inapplicable

LEAST, USUAL = 25, 50


def _check(system: System) -> Iterable[Verdict]:
    setting, found = system.term("parallel_cost"), system.amount("parallel_cost")
    if system.known_work == "dss":
        raise inapplicable("the queries of decision support cost more than any threshold")
    yield held(
        found >= LEAST,
        f"{setting.name} = {setting.shown}",
        f"at least {LEAST}",
        *system.mend("parallel_cost", USUAL),
    )


RULE = Rule(
    name="parallel-cost",
    area="cpu",
    scope="database",
    severity="low",
    looks_at="the estimated cost from which a query runs in parallel; not for decision support",
    wants=f"at least {LEAST}; {USUAL} is usual",
    why="The default of 5 is from the nineties. Queries of milliseconds then start threads, which "
    "cost more than they save and take CPUs from other users.",
    source=f"{SQL_SERVER}, cost threshold for parallelism; {DYNO}",
    study="parallelism",
    check=_check,
)
