"""Random cost: the planner knows what the data is on."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.advise.rule import Rule, Verdict, held
from dyno.decide.advise.sources import DYNO, POSTGRESQL
from dyno.decide.advise.system import System

FLASH_MOST, SPINDLE_LEAST = 2.0, 2.0


def _check(system: System) -> Iterable[Verdict]:
    setting, found = system.term("random_cost"), system.amount("random_cost")
    spins = any(
        disk.switch("rotational") and not disk.text("name").startswith(("vd", "xvd"))
        for disk in system.volume("data").disks
    )
    yield held(
        found >= SPINDLE_LEAST if spins else found <= FLASH_MOST,
        f"{setting.name} = {setting.shown} on {'spindles' if spins else 'flash'}",
        f"at least {SPINDLE_LEAST:g}" if spins else f"at most {FLASH_MOST:g}",
        *system.mend("random_cost", 4 if spins else 1.1),
    )


RULE = Rule(
    name="random-cost",
    area="plans",
    scope="database",
    severity="medium",
    looks_at="the cost of a random page, and the disks under the data",
    wants="at most 2 on flash (1.1 is usual), at least 2 on spindles (4 is the default)",
    why="With the cost of a spindle the planner reads whole tables where an index on flash would "
    "be faster.",
    source=f"{POSTGRESQL}, random_page_cost; {DYNO}",
    study="settings",
    check=_check,
)
