"""Unused indexes: each index serves queries."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.config.units import bytes_text, seconds_text
from dyno.decide.advise.amounts import MB, plural, some
from dyno.decide.advise.rule import Rule, Verdict, held
from dyno.decide.advise.sources import DYNO
from dyno.decide.advise.system import System, inapplicable, unreadable

LEAST_S, LEAST_BYTES = 7 * 86400.0, 10 * MB


def _check(system: System) -> Iterable[Verdict]:
    seconds = system.counter("counted_s")
    if seconds < LEAST_S:
        raise inapplicable(
            f"the counters began {seconds_text(seconds)} ago; a week of work is needed"
        )
    indexes = system.catalog("indexes").indexes
    counted = [one for one in indexes if one.scans is not None]
    if indexes and not counted:
        system.catalog("uses")  # its reason, if uses are not counted
        raise unreadable("the server does not count uses of indexes")
    idle = [
        one
        for one in counted
        if not one.scans and not one.needed and (one.bytes is None or one.bytes >= LEAST_BYTES)
    ]
    idle.sort(key=lambda one: (-(one.bytes or 0), one.name))
    total = sum(one.bytes or 0 for one in idle)
    size = f", {bytes_text(total)}" if total else ""
    yield held(
        not idle,
        f"{plural(len(idle), 'index', 'indexes')} without a use{size}: "
        f"{some([one.name for one in idle])}"
        if idle
        else f"all of {plural(len(counted), 'index', 'indexes')} are used, needed or small",
        "none above 10 MB",
        *(system.dialect.drop_index.format(index=one.name, table=one.table) for one in idle[:5]),
    )


RULE = Rule(
    name="unused-indexes",
    area="care",
    scope="database",
    severity="low",
    looks_at="uses of each index since the counters began, at least a week",
    wants="no index of 10 MB and more without a use, unless it enforces a key",
    why="Each change of a row also changes it. Reports once a month and replicas may use it: check "
    "before you drop it.",
    source=DYNO,
    study="index-build",
    check=_check,
)
