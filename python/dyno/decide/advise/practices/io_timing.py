"""I/O timing: waits for storage are measured."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.advise.rule import Rule, Verdict, held
from dyno.decide.advise.sources import POSTGRESQL
from dyno.decide.advise.system import System


def _check(system: System) -> Iterable[Verdict]:
    setting = system.term("io_timing")
    yield held(
        setting.value is True,
        f"{setting.name} = {setting.shown}",
        "on",
        *system.mend("io_timing", True),
    )


RULE = Rule(
    name="io-timing",
    area="care",
    scope="database",
    severity="low",
    looks_at="whether the server times its reads and writes",
    wants="on, with a fast clock source",
    why="Plans, statements and tables then show the time of their I/O. With a fast clock it costs "
    "a fraction of a percent.",
    source=f"{POSTGRESQL}, track_io_timing",
    check=_check,
)
