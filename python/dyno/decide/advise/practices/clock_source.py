"""Clock source: reading the time needs no system call."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.advise.rule import Rule, Verdict, held
from dyno.decide.advise.sources import POSTGRESQL
from dyno.decide.advise.system import System
from dyno.host.warnings import FAST_CLOCKS


def _check(system: System) -> Iterable[Verdict]:
    found = system.host.text("clock", "source")
    better = next(
        (one for one in system.host.words("clock", "available") if one in FAST_CLOCKS), ""
    )
    yield held(
        found in FAST_CLOCKS,
        found,
        "tsc, or the clock of the hypervisor",
        f"echo {better} > /sys/devices/system/clocksource/clocksource0/current_clocksource"
        if better
        else "# none is available here: see the kernel's log for why it left tsc",
    )


RULE = Rule(
    name="clock-source",
    area="cpu",
    scope="machine",
    severity="medium",
    looks_at="/sys/devices/system/clocksource/clocksource0/current_clocksource",
    wants=f"one of {', '.join(sorted(FAST_CLOCKS))}",
    why="Databases read the time for each statement, and with timing on for each I/O. hpet and "
    "acpi_pm take a microsecond and a system call.",
    source=f"{POSTGRESQL}, pg_test_timing",
    check=_check,
)
