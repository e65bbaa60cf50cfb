"""Checkpoint interval: five minutes to half an hour."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.advise.rule import Rule, Verdict, held, tested
from dyno.decide.advise.settings import sets
from dyno.decide.advise.sources import DYNO, POSTGRESQL
from dyno.decide.advise.system import System

LEAST, MOST = 300.0, 1800.0


def _check(system: System) -> Iterable[Verdict]:
    setting, found = system.term("checkpoint_interval"), system.amount("checkpoint_interval")
    yield tested(
        held(
            LEAST <= found <= MOST,
            f"{setting.name} = {setting.shown}",
            f"{LEAST / 60:.0f} to {MOST / 60:.0f} min",
            *system.mend("checkpoint_interval", 900),
        ),
        sets("checkpoint_interval", 900),
    )


RULE = Rule(
    name="checkpoint-interval",
    area="log",
    scope="database",
    severity="low",
    looks_at="the time between checkpoints",
    wants="5 to 30 min",
    why="Shorter ones log more whole pages and write the same page more often. Longer ones make "
    "recovery after a crash longer.",
    source=f"{POSTGRESQL}, checkpoint_timeout; {DYNO}",
    check=_check,
)
