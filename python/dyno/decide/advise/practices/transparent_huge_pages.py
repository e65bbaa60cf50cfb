"""Transparent huge pages: memory is not compacted while a session waits."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.advise.rule import Rule, Verdict, held
from dyno.decide.advise.sources import LINUX, MYSQL
from dyno.decide.advise.system import System


def _check(system: System) -> Iterable[Verdict]:
    found = system.host.text("memory", "transparent_huge_pages")
    yield held(
        found != "always",
        found,
        "madvise or never",
        "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled",
        "# to keep it, boot with transparent_hugepage=madvise",
    )


RULE = Rule(
    name="transparent-huge-pages",
    area="memory",
    scope="machine",
    severity="medium",
    looks_at="/sys/kernel/mm/transparent_hugepage/enabled",
    wants="madvise or never",
    why="With always, the first write to memory may wait until the kernel has moved other pages "
    "to make a huge one, and memory use grows.",
    source=f"{LINUX}, admin-guide/mm/transhuge; {MYSQL}, Enabling Large Page Support",
    check=_check,
)
