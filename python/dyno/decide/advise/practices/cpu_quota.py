"""CPU quota: no control group stops the server in the middle of its work."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.advise.rule import Rule, Verdict, held
from dyno.decide.advise.sources import LINUX
from dyno.decide.advise.system import System


def _check(system: System) -> Iterable[Verdict]:
    cpus = system.host.number("cpu", "logical")
    if system.host.get("cgroup") is None:
        system.host.number("cgroup", "cpu_quota")  # says that it is unknown
    quota = system.host.get("cgroup", "cpu_quota")
    free = not isinstance(quota, int | float) or quota >= cpus
    yield held(
        free,
        "no quota" if free else f"{quota:g} of {cpus:.0f} CPUs",
        "no quota, or whole CPUs by a cpuset",
        "# docker: --cpuset-cpus instead of --cpus; systemd: AllowedCPUs= instead of CPUQuota=",
    )


RULE = Rule(
    name="cpu-quota",
    area="cpu",
    scope="machine",
    severity="medium",
    looks_at="CPU limits of the control groups",
    wants="no quota",
    why="A quota that is used up stops all threads until its period of 100 ms ends. Throughput is "
    "that of fewer CPUs, and the slowest responses are longer by those stops.",
    source=f"{LINUX}, scheduler/sched-bwc",
    study="cpu-memory-grid",
    check=_check,
)
