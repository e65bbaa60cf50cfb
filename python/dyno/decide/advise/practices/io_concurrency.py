"""I/O concurrency: a scan asks flash for several pages at once."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.advise.rule import Rule, Verdict, held
from dyno.decide.advise.sources import DYNO, POSTGRESQL
from dyno.decide.advise.system import System, inapplicable

LEAST = 16.0


def _check(system: System) -> Iterable[Verdict]:
    setting, found = system.term("io_concurrency"), system.amount("io_concurrency")
    disks = system.volume("data").disks
    if any(
        disk.switch("rotational") and not disk.text("name").startswith(("vd", "xvd"))
        for disk in disks
    ):
        raise inapplicable("the data is on spinning disks")
    yield held(
        found >= LEAST,
        f"{setting.name} = {setting.shown} on flash",
        f"at least {LEAST:g}",
        *system.mend("io_concurrency", 64),
    )


RULE = Rule(
    name="io-concurrency",
    area="storage",
    scope="database",
    severity="medium",
    looks_at="reads that one session has in flight, and the disks under the data",
    wants="at least 16 on flash (the default since PostgreSQL 18; 1 before)",
    why="Flash is fast by many requests at once. A bitmap scan with one request at a time gets the "
    "latency of the device, not its throughput.",
    source=f"{POSTGRESQL}, effective_io_concurrency; {DYNO}",
    study="settings",
    check=_check,
)
