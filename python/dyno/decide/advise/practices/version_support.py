"""Version support: its makers still repair this version."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.advise.rule import Rule, Verdict, held
from dyno.decide.advise.sources import MARIADB, POSTGRESQL
from dyno.decide.advise.system import System, inapplicable, unreadable


def _check(system: System) -> Iterable[Verdict]:
    dialect, version = system.dialect, system.db.version
    if not dialect.ends:
        raise inapplicable(f"{system.db.product} is part of Dyno's installation")
    series = dialect.series(version)
    end = dialect.ends.get(series)
    if end is None:
        raise unreadable(f"this Dyno does not know when support for {series} ends")
    newest = max(dialect.ends, key=lambda one: dialect.ends[one])
    yield held(
        system.today <= end,
        f"{version}, supported until {end}",
        f"a series that is supported on {system.today}",
        f"# {dialect.upgrade.format(series=newest)}",
    )


RULE = Rule(
    name="version-support",
    area="care",
    scope="database",
    severity="medium",
    looks_at="the version of the server, and the published end of support",
    wants="support has not ended",
    why="After the end of support, data-loss bugs and security holes are no longer fixed.",
    source=f"{POSTGRESQL}, Versioning Policy; {MARIADB}, Maintenance Policy; Oracle, Lifetime "
    "Support Policy",
    check=_check,
)
