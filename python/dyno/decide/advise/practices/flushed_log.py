"""Flushed log: the server asks for durable writes at all."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.advise.rule import Rule, Verdict, held
from dyno.decide.advise.sources import POSTGRESQL
from dyno.decide.advise.system import System


def _check(system: System) -> Iterable[Verdict]:
    setting = system.term("flushed_log")
    yield held(
        setting.value is True,
        f"{setting.name} = {setting.shown}",
        "writes are synced",
        *system.mend("flushed_log", True),
    )


RULE = Rule(
    name="flushed-log",
    area="durability",
    scope="database",
    severity="high",
    looks_at="whether the server syncs its files",
    wants="yes",
    why="Without, a crash of the machine may leave a database that cannot be started.",
    source=f"{POSTGRESQL}, fsync",
    check=_check,
)
