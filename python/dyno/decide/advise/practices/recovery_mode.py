"""Recovery mode: the log suffices for the phase that the database is in."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.advise.rule import Rule, Verdict, held
from dyno.decide.advise.sources import DSS, OLTP
from dyno.decide.advise.system import System


def _check(system: System) -> Iterable[Verdict]:
    setting, work = system.term("recoverable"), system.known_work
    wanted = work != "load"
    yield held(
        setting.value is wanted,
        f"{setting.name} = {setting.shown}",
        "enough to restore to a point in time" if wanted else "as little as possible for a load",
        *system.mend("recoverable", wanted),
    )


RULE = Rule(
    name="recovery-mode",
    area="durability",
    scope="database",
    severity="medium",
    looks_at="what is written to the log",
    wants="enough to restore to a point in time; during a load as little as possible",
    why="Without it all changes since the last backup are lost with the volume. A bulk load can be "
    "repeated, and writes less without.",
    source=f"{OLTP}, 7.4.6; {DSS}, 7.3.5 (full recovery model)",
    study="load-streams",
    check=_check,
)
