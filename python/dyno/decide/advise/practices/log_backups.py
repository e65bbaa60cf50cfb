"""Log backups: a log that stays until it is backed up is backed up."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.advise.amounts import plural
from dyno.decide.advise.rule import Rule, Verdict, held
from dyno.decide.advise.sources import DYNO, OLTP
from dyno.decide.advise.system import System, inapplicable

_HOUR = 3600
MOST_H = 24


def _check(system: System) -> Iterable[Verdict]:
    setting = system.term("log_kept")
    age = system.counter("log_backup_age_s")
    if setting.value is not True:
        raise inapplicable(f"{setting.name} = {setting.shown}: the log is not kept")
    hours = int(age // _HOUR)
    yield held(
        age <= MOST_H * _HOUR,
        f"{setting.name} = {setting.shown}, and no log backup for {plural(hours, 'hour')}",
        f"one within {MOST_H} hours",
        *system.dialect.back_up_log,
    )


RULE = Rule(
    name="log-backups",
    area="durability",
    scope="database",
    severity="high",
    looks_at="the age of the last log backup, if the log stays until it is backed up",
    wants=f"a log backup within {MOST_H} hours",
    why="Without log backups the log grows until its volume is full and all writes fail, and "
    "nothing newer than the last full backup can be restored.",
    source=f"{OLTP}, 7.4.6; {DYNO}",
    check=_check,
)
