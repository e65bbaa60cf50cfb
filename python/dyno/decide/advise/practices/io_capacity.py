"""I/O capacity: background writes may use what the device has."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.advise.rule import Rule, Verdict, held
from dyno.decide.advise.sources import DYNO, MYSQL
from dyno.decide.advise.system import System

FLASH, SPINDLE = 1000.0, 100.0


def _check(system: System) -> Iterable[Verdict]:
    setting, found = system.term("io_capacity"), system.amount("io_capacity")
    disks = system.volume("data").disks
    spins = any(
        disk.switch("rotational") and not disk.text("name").startswith(("vd", "xvd"))
        for disk in disks
    )
    wanted = SPINDLE * len(disks) if spins else FLASH
    yield held(
        found >= wanted,
        f"{setting.name} = {setting.shown} on {'spindles' if spins else 'flash'}",
        f"at least {wanted:,.0f}/s",
        *system.mend("io_capacity", max(wanted, 2 * FLASH) if not spins else wanted),
    )


RULE = Rule(
    name="io-capacity",
    area="storage",
    scope="database",
    severity="medium",
    looks_at="the rate of background writes, and the disks under the data",
    wants="100/s a spindle, 1,000/s on flash; `dyno io` measures what the volume has",
    why="At the default 200, dirty pages pile up under load. When the log is full, sessions wait "
    "until they are written.",
    source=f"{MYSQL}, Configuring InnoDB I/O Capacity; {DYNO}",
    study="users",
    check=_check,
)
