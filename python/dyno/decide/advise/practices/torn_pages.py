"""Torn pages: a page that was written by half is repaired."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.advise.rule import Rule, Verdict, held
from dyno.decide.advise.sources import MYSQL, POSTGRESQL
from dyno.decide.advise.system import GapError, System

_ATOMIC = ("zfs",)


def _check(system: System) -> Iterable[Verdict]:
    setting = system.term("torn_pages")
    try:
        kind = system.volume("data").facts.text("fs_type")
    except GapError:
        kind = ""
    atomic = kind in _ATOMIC
    yield held(
        setting.value is True or atomic,
        f"{setting.name} = {setting.shown}{f' on {kind}' if atomic else ''}",
        "on",
        *system.mend("torn_pages", True),
    )


RULE = Rule(
    name="torn-pages",
    area="durability",
    scope="database",
    severity="high",
    looks_at="protection against half-written pages, and the file system of the data",
    wants="on, unless the file system never overwrites a block (zfs)",
    why="Disks write 4 KiB at a time, databases 8 or 16. After a power failure a page may be half "
    "old and half new, and the log cannot repair it.",
    source=f"{POSTGRESQL}, full_page_writes; {MYSQL}, Doublewrite Buffer",
    check=_check,
)
