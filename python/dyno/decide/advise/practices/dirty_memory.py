"""Dirty memory: the kernel starts to write before gigabytes are waiting."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.advise.amounts import GIB, MIB, binary
from dyno.decide.advise.rule import Rule, Verdict, held
from dyno.decide.advise.sources import DYNO, LINUX
from dyno.decide.advise.system import System

MOST = GIB


def _check(system: System) -> Iterable[Verdict]:
    given = system.host.number("tunable", "dirty_background_bytes")
    ratio = system.host.number("tunable", "dirty_background_ratio")
    available = system.host.number("memory", "available_bytes")
    begins = given or ratio / 100 * available
    words = f"{binary(begins)} (vm.dirty_background_bytes)" if given else (
        f"{ratio:.0f} % of available memory, {binary(begins)} (vm.dirty_background_ratio)"
    )  # fmt: skip
    yield held(
        begins <= MOST,
        words,
        f"at most {binary(MOST)}",
        f"sysctl -w vm.dirty_background_bytes={256 * MIB} vm.dirty_bytes={GIB}",
    )


RULE = Rule(
    name="dirty-memory",
    area="memory",
    scope="machine",
    severity="low",
    looks_at="/proc/sys/vm/dirty_background_ratio and dirty_background_bytes",
    wants=f"background writes from {binary(MOST)} of dirty pages on, or earlier",
    why="A sync of a log or a checkpoint waits behind everything that is dirty on its device. The "
    "default of 10 % is 6 GB on a machine with 64 GB.",
    source=f"{LINUX}, admin-guide/sysctl/vm; {DYNO}",
    study="maintenance",
    check=_check,
)
