"""Session memory: the cache and the sorts of all sessions fit into memory."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.advise.amounts import MIB, binary
from dyno.decide.advise.rule import Rule, Verdict, held
from dyno.decide.advise.sources import POSTGRESQL
from dyno.decide.advise.system import System


def _check(system: System) -> Iterable[Verdict]:
    cache, work = system.amount("cache"), system.amount("work_memory")
    sessions, memory = system.amount("connections"), system.memory_bytes
    needed = cache + sessions * work
    names = [system.term(term).name for term in ("cache", "connections", "work_memory")]
    fitting = max(10, int((memory - cache) / work)) if cache < memory else 10
    smaller = max(MIB, (memory - cache) / sessions)
    yield held(
        needed <= memory,
        f"{names[0]} {binary(cache)} + {names[1]} {sessions:,.0f} × {names[2]} {binary(work)} "
        f"= {binary(needed)}",
        f"at most {binary(memory)}",
        *system.mend("connections", fitting),
        f"-- or: {system.mend('work_memory', smaller)[0]}",
    )


RULE = Rule(
    name="session-memory",
    area="memory",
    scope="database",
    severity="medium",
    looks_at="cache, maximum connections, and work memory (of one sort or hash)",
    wants="cache + maximum connections × work memory ≤ memory",
    why="A session may sort several times at once, so this is not even the worst case. If all "
    "sessions sort, the machine swaps or the kernel kills the server. A pool of connections in "
    "front of the server allows few sessions for many users.",
    source=f"{POSTGRESQL}, Resource Consumption (work_mem)",
    study="settings",
    check=_check,
)
