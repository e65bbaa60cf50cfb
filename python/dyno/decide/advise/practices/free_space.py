"""Free space: a volume keeps 5 % or 100 GB free."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.config.units import bytes_text
from dyno.decide.advise.amounts import GB, percent
from dyno.decide.advise.rule import Rule, Verdict, held
from dyno.decide.advise.sources import OLTP
from dyno.decide.advise.system import System, Volume
from dyno.decide.advise.volumes import each_volume

SHARE, ENOUGH = 0.05, 100 * GB


def wanted_bytes(size: float) -> float:
    """5 % of the volume, and never more than 100 GB."""
    return min(SHARE * size, ENOUGH)


def _judge(volume: Volume) -> Verdict:
    size, free = volume.facts.number("size_bytes"), volume.facts.number("free_bytes")
    return held(
        free >= wanted_bytes(size),
        f"{bytes_text(free)} free, {percent(free / size if size else 0)}",
        f"at least {bytes_text(wanted_bytes(size))}",
        "# remove or move files, or enlarge the volume: lvextend --resizefs -L +SIZE VOLUME",
    )


def _check(system: System) -> Iterable[Verdict]:
    yield from each_volume(system, _judge)


RULE = Rule(
    name="free-space",
    area="storage",
    scope="database",
    severity="high",
    looks_at="size and free space of the file systems under data, log and temporary files",
    wants="5 % or 100 GB free, whichever is less",
    why="A full volume stops the database. Arrays and flash need free space to move data.",
    source=f"{OLTP}, 5.1 (free space of an array's pool)",
    study="io-fill",
    check=_check,
)
