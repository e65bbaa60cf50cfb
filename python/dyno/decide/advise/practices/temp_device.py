"""Temp device: temporary files do not share the device of the data."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.advise.amounts import some
from dyno.decide.advise.rule import Rule, Verdict, held
from dyno.decide.advise.sources import DSS, OLTP
from dyno.decide.advise.system import System


def _check(system: System) -> Iterable[Verdict]:
    temp, data = system.devices("temp"), system.devices("data")
    shared = sorted({*temp} & {*data})
    yield held(
        not shared,
        f"temporary files and data on {some(shared)}" if shared else f"on {some([*temp])}",
        "different devices",
        *system.dialect.move_temp,
    )


RULE = Rule(
    name="temp-device",
    area="storage",
    scope="database",
    severity="low",
    looks_at="the block devices under temporary and data files",
    wants="no device in common",
    why="Large sorts and hashes write and read temporary files (half and half, in blocks of 64 KB, "
    "in a published measurement) while the same query reads data.",
    source=f"{DSS}, 7.3.6 and table 10; {OLTP}, 7.4.7",
    study="accelerate-dss",
    check=_check,
)
