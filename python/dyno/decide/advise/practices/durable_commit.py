"""Durable commit: a commit is on storage when it returns."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.advise.rule import Rule, Verdict, held
from dyno.decide.advise.sources import MYSQL, POSTGRESQL
from dyno.decide.advise.system import System, inapplicable


def _check(system: System) -> Iterable[Verdict]:
    setting = system.term("durable_commit")
    if system.work == "load":
        raise inapplicable("a load that a crash cuts short is loaded again")
    yield held(
        setting.value is True,
        f"{setting.name} = {setting.shown}",
        "commits wait for storage",
        *system.mend("durable_commit", True),
    )


RULE = Rule(
    name="durable-commit",
    area="durability",
    scope="database",
    severity="high",
    looks_at="whether a commit waits until its log is on storage",
    wants="yes, except during a load",
    why="Otherwise a crash loses transactions that users were told are done. Results measured "
    "without it flatter: most of the time of a commit is that wait.",
    source=f"{POSTGRESQL}, Asynchronous Commit; {MYSQL}, innodb_flush_log_at_trx_commit",
    check=_check,
)
