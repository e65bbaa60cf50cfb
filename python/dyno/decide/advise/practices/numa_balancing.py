"""NUMA balancing: pages of a shared cache do not move between nodes."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.advise.rule import Rule, Verdict, held
from dyno.decide.advise.sources import LINUX
from dyno.decide.advise.system import System, inapplicable


def _check(system: System) -> Iterable[Verdict]:
    if system.host.number("cpu", "numa_nodes") < 2:
        raise inapplicable("this machine has one NUMA node")
    found = system.host.number("tunable", "numa_balancing")
    yield held(
        found == 0,
        f"kernel.numa_balancing = {found:.0f}",
        "0",
        "sysctl -w kernel.numa_balancing=0",
    )


RULE = Rule(
    name="numa-balancing",
    area="cpu",
    scope="machine",
    severity="low",
    looks_at="/proc/sys/kernel/numa_balancing on machines with several NUMA nodes",
    wants="0",
    why="All nodes use the whole cache. The kernel unmaps its pages to sample accesses, and moves "
    "them without benefit.",
    source=f"{LINUX}, admin-guide/sysctl/kernel (numa_balancing)",
    study="cpu-memory-grid",
    check=_check,
)
