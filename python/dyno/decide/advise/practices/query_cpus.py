"""Query CPUs: one query stays on the CPUs of a NUMA node."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.advise.amounts import plural
from dyno.decide.advise.rule import Rule, Verdict, held, tested
from dyno.decide.advise.settings import sets
from dyno.decide.advise.sources import SQL_SERVER
from dyno.decide.advise.system import System

MOST, LARGE = 8, 16


def most(cpus: int, nodes: int) -> int:
    """The most CPUs for one query, by the documentation: 8 of one node, else those of a node.

    Nodes with more than 16 CPUs give half of them, at most 16.
    """
    if nodes < 2:
        return min(cpus, MOST)
    own = max(1, cpus // nodes)
    return own if own <= LARGE else min(LARGE, own // 2)


def _check(system: System) -> Iterable[Verdict]:
    setting, found, cpus = system.term("query_cpus"), system.amount("query_cpus"), system.cpus
    nodes = int(system.host.number("cpu", "numa_nodes"))
    wanted = most(cpus, nodes)
    yield tested(
        held(
            1 <= found <= wanted or (found == 0 and cpus <= wanted),
            f"{setting.name} = {setting.shown} on {plural(cpus, 'CPU')}, "
            f"{plural(nodes, 'NUMA node')}",
            f"1 to {wanted}",
            *system.mend("query_cpus", wanted),
        ),
        sets("query_cpus", wanted),
    )


RULE = Rule(
    name="query-cpus",
    area="cpu",
    scope="database",
    severity="medium",
    looks_at="CPUs of one query, usable CPUs and NUMA nodes",
    wants=f"at most {MOST} on one NUMA node; else those of one node, or half of them above {LARGE}",
    why="A query on all CPUs crosses NUMA nodes and leaves none for other users, and the memory "
    "of a column store build grows with its threads.",
    source=f"{SQL_SERVER}, max degree of parallelism",
    study="parallelism",
    check=_check,
)
