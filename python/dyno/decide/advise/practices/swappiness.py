"""Swappiness: the kernel drops cached files before it swaps out a server."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.advise.rule import Rule, Verdict, held
from dyno.decide.advise.sources import DYNO, LINUX
from dyno.decide.advise.system import System, inapplicable

MOST = 10


def _check(system: System) -> Iterable[Verdict]:
    if not system.host.number("memory", "swap_total_bytes"):
        raise inapplicable("this machine has no swap")
    found = system.host.number("tunable", "swappiness")
    yield held(
        found <= MOST,
        f"vm.swappiness = {found:.0f}",
        f"at most {MOST}",
        f"sysctl -w vm.swappiness={MOST}",
        f"echo 'vm.swappiness = {MOST}' > /etc/sysctl.d/90-database.conf    # to keep it",
    )


RULE = Rule(
    name="swappiness",
    area="memory",
    scope="machine",
    severity="low",
    looks_at="/proc/sys/vm/swappiness",
    wants=f"at most {MOST} on a machine with swap",
    why="At the default of 60 the kernel may swap out a cache that is idle for a while to keep "
    "files in memory which the server will not read again.",
    source=f"{LINUX}, admin-guide/sysctl/vm; {DYNO}",
    check=_check,
)
