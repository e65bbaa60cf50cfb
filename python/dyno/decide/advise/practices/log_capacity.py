"""Log capacity: the log holds what an hour writes."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.advise.amounts import binary
from dyno.decide.advise.rule import Rule, Verdict, held, tested
from dyno.decide.advise.settings import sets
from dyno.decide.advise.sources import DYNO, MYSQL, OLTP
from dyno.decide.advise.system import GapError, System, inapplicable

DAY_S, HOUR_S, LEAST_S = 86400.0, 3600.0, 600.0


def _rate(system: System) -> float:
    """Bytes of log a second."""
    if system.db.log_per_s is not None:
        return system.db.log_per_s
    seconds = system.counter("counted_s")
    if seconds < LEAST_S:
        raise inapplicable(f"the counters began only {seconds:.0f} s ago")
    return system.counter("log_bytes") / seconds


def _check(system: System) -> Iterable[Verdict]:
    size, name = system.amount("log_capacity"), system.term("log_capacity").name
    rate = _rate(system)
    try:
        seconds = 2 * system.amount("checkpoint_interval")
    except GapError:  # it checkpoints by how full the log is
        seconds = HOUR_S
    yield tested(
        held(
            size >= rate * seconds,
            f"{name} {binary(size)}; {binary(rate * seconds)} of log in {seconds / 60:.0f} min",
            f"at least {binary(rate * seconds)}",
            *system.mend("log_capacity", 1.25 * rate * seconds),
        ),
        sets("log_capacity", 1.25 * rate * seconds),
    )


RULE = Rule(
    name="log-capacity",
    area="log",
    scope="database",
    severity="medium",
    looks_at="the size of the log, and what is written to it",
    wants="two checkpoint intervals of log, or an hour where checkpoints follow the fill level",
    why="A log that fills up forces checkpoints, and sessions wait for pages to be written.",
    source=f"{OLTP}, 7.4.6 (a log that need not grow); {MYSQL}, Redo Log; {DYNO}",
    study="users",
    check=_check,
)
