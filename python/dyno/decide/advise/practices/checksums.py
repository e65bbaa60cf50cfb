"""Checksums: the database notices a page that storage has changed."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.advise.rule import Rule, Verdict, held
from dyno.decide.advise.sources import MARIADB, POSTGRESQL
from dyno.decide.advise.system import System


def _check(system: System) -> Iterable[Verdict]:
    setting = system.term("checksums")
    yield held(
        setting.value is True,
        f"{setting.name} = {setting.shown}",
        "on",
        *system.mend("checksums", True),
    )


RULE = Rule(
    name="checksums",
    area="durability",
    scope="database",
    severity="medium",
    looks_at="whether pages have checksums",
    wants="yes",
    why="Disks, controllers and memory return wrong data now and then. Without checksums it is "
    "found when an answer is wrong, and backups hold the same error. PostgreSQL 18 turns them on "
    "by default: compare versions with the same setting.",
    source=f"{POSTGRESQL}, Data Checksums; {MARIADB}, innodb_checksum_algorithm",
    study="maintenance",
    check=_check,
)
