"""Huge pages: a large cache is in huge pages, which also lock it in memory."""

from __future__ import annotations

import math
from collections.abc import Iterable

from dyno.decide.advise.amounts import GIB, binary
from dyno.decide.advise.rule import Rule, Verdict, held
from dyno.decide.advise.sources import DSS, MARIADB, POSTGRESQL
from dyno.decide.advise.system import GapError, System, inapplicable

LEAST = 2 * GIB
_SPARE = 1.05
"""Shared memory beside the cache."""


def _check(system: System) -> Iterable[Verdict]:
    setting, cache = system.term("huge_pages"), system.amount("cache")
    if cache < LEAST:
        raise inapplicable(f"the cache of {binary(cache)} is smaller than {binary(LEAST)}")
    size = system.host.number("memory", "huge_page_bytes")
    reserved = system.host.number("memory", "huge_pages_total") * size
    pages = math.ceil(_SPARE * cache / size)
    try:
        used = bool(system.counter("huge_pages_used"))
    except GapError:  # a recorded one, or the server does not tell
        used = setting.value != "off" and reserved >= cache
    yield held(
        used,
        f"{setting.name} = {setting.shown}; {binary(reserved)} reserved for a cache of "
        f"{binary(cache)}",
        f"in huge pages: {pages:,} of {binary(size)}",
        f"sysctl -w vm.nr_hugepages={pages}",
        *system.mend("huge_pages", "on"),
    )


RULE = Rule(
    name="huge-pages",
    area="memory",
    scope="database",
    severity="medium",
    looks_at="whether the cache is in huge pages; /proc/meminfo: HugePages_Total, Hugepagesize",
    wants=f"a cache of {binary(LEAST)} and more in reserved huge pages",
    why="Each session needs page tables for all of the cache it touches: 2 MB a GB in small pages. "
    "Huge pages are never swapped out, which is what locked pages do elsewhere.",
    source=f"{DSS}, 6.1 and 7.3.1 (lock pages in memory); {POSTGRESQL}, Linux Huge Pages; "
    f"{MARIADB}, large_pages",
    study="settings",
    check=_check,
)
