"""Direct I/O: pages are cached once."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.advise.rule import Rule, Verdict, held
from dyno.decide.advise.sources import MYSQL
from dyno.decide.advise.system import System


def _check(system: System) -> Iterable[Verdict]:
    setting = system.term("direct_io")
    yield held(
        setting.value is True,
        f"{setting.name} = {setting.shown}",
        "O_DIRECT",
        *system.mend("direct_io", True),
    )


RULE = Rule(
    name="direct-io",
    area="memory",
    scope="database",
    severity="medium",
    looks_at="how the server opens its data files",
    wants="direct I/O",
    why="Otherwise each page is in the buffer pool and in the page cache, and half of the memory "
    "caches nothing new.",
    source=f"{MYSQL}, innodb_flush_method",
    study="settings",
    check=_check,
)
