"""NUMA reclaim: a node uses memory of its neighbours before it drops its cache."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.advise.rule import Rule, Verdict, held
from dyno.decide.advise.sources import LINUX
from dyno.decide.advise.system import System, inapplicable


def _check(system: System) -> Iterable[Verdict]:
    if system.host.number("cpu", "numa_nodes") < 2:
        raise inapplicable("this machine has one NUMA node")
    found = system.host.number("tunable", "zone_reclaim_mode")
    yield held(
        found == 0,
        f"vm.zone_reclaim_mode = {found:.0f}",
        "0",
        "sysctl -w vm.zone_reclaim_mode=0",
    )


RULE = Rule(
    name="numa-reclaim",
    area="cpu",
    scope="machine",
    severity="medium",
    looks_at="/proc/sys/vm/zone_reclaim_mode on machines with several NUMA nodes",
    wants="0",
    why="Otherwise a node drops cached files, and swaps, while another node has free memory.",
    source=f"{LINUX}, admin-guide/sysctl/vm (zone_reclaim_mode)",
    check=_check,
)
