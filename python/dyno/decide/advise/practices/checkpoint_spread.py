"""Checkpoint spread: a checkpoint takes most of its interval."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.advise.rule import Rule, Verdict, held
from dyno.decide.advise.sources import POSTGRESQL
from dyno.decide.advise.system import System

LEAST = 0.8


def _check(system: System) -> Iterable[Verdict]:
    setting, found = system.term("checkpoint_spread"), system.amount("checkpoint_spread")
    yield held(
        found >= LEAST,
        f"{setting.name} = {setting.shown}",
        f"at least {LEAST:g} of the interval",
        *system.mend("checkpoint_spread", 0.9),
    )


RULE = Rule(
    name="checkpoint-spread",
    area="log",
    scope="database",
    severity="medium",
    looks_at="the share of the interval over which a checkpoint writes",
    wants=f"at least {LEAST:g}; the default is 0.9",
    why="A checkpoint in half of the time writes at twice the rate, and reads wait behind it.",
    source=f"{POSTGRESQL}, checkpoint_completion_target",
    check=_check,
)
