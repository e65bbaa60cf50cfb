"""Swap: no memory is swapped out."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.config.units import bytes_text
from dyno.decide.advise.rule import Rule, Verdict, held
from dyno.decide.advise.sources import DSS
from dyno.decide.advise.system import System, inapplicable


def _check(system: System) -> Iterable[Verdict]:
    if not system.host.number("memory", "swap_total_bytes"):
        raise inapplicable("this machine has no swap")
    used = system.host.number("memory", "swap_used_bytes")
    yield held(
        used == 0,
        f"{bytes_text(used)} of swap in use",
        "0 B",
        "swapoff -a && swapon -a    # after the cause is gone: it needs as much free memory",
    )


RULE = Rule(
    name="swap-used",
    area="memory",
    scope="machine",
    severity="medium",
    looks_at="/proc/meminfo: SwapTotal, SwapFree",
    wants="no swap in use",
    why="If part of the cache is swapped out, a cache hit still costs a read from disk.",
    source=f"{DSS}, 7.3.1 (memory that is locked is never paged out)",
    check=_check,
)
