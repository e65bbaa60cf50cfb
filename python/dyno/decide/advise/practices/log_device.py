"""Log device: the log has a device of its own."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.advise.amounts import some
from dyno.decide.advise.rule import Rule, Verdict, held
from dyno.decide.advise.sources import DSS, OLTP
from dyno.decide.advise.system import System


def _check(system: System) -> Iterable[Verdict]:
    log, data = system.devices("log"), system.devices("data")
    shared = sorted({*log} & {*data})
    yield held(
        not shared,
        f"log and data on {some(shared)}" if shared else f"log on {some([*log])}",
        "different devices",
        *system.dialect.move_log,
    )


RULE = Rule(
    name="log-device",
    area="log",
    scope="database",
    severity="medium",
    looks_at="the block devices under log and data files",
    wants="no device in common",
    why="The log is written in sequence and synced at each commit; data is read and written at "
    "random. On one device each commit waits behind the data. On a virtualised array the gain may "
    "be nil: measure it.",
    source=f"{OLTP}, 7.4.6; {DSS}, 7.3.5",
    study="file-layout",
    check=_check,
)
