"""Data growth: a shared file grows by steps that fit its size."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.config.units import bytes_text
from dyno.decide.advise.amounts import MB
from dyno.decide.advise.rule import Rule, Verdict, held
from dyno.decide.advise.sources import DSS, OLTP
from dyno.decide.advise.system import System


def step_bytes(size: float) -> float:
    """Growth of a file of this size: 10 MB to 100 MB, 20 MB to 200 MB, 10 % above."""
    if size < 100 * MB:
        return 10 * MB
    return 20 * MB if size < 200 * MB else size / 10


def _check(system: System) -> Iterable[Verdict]:
    setting, step = system.term("file_growth"), system.amount("file_growth")
    size = system.counter("growing_file")
    wanted = step_bytes(size)
    yield held(
        step >= wanted,
        f"{setting.name}: {bytes_text(step)} for a file of {bytes_text(size)}",
        f"at least {bytes_text(wanted)}",
        *system.mend("file_growth", wanted),
    )


RULE = Rule(
    name="data-growth",
    area="storage",
    scope="database",
    severity="low",
    looks_at="the growth step of shared tablespaces, and their size",
    wants="10 MB for files up to 100 MB, 20 MB up to 200 MB, 10 % above",
    why="Each growth stops the sessions that need space, and small ones fragment the file.",
    source=f"{DSS}, table 11; {OLTP}, 7.4.7",
    study="load-streams",
    check=_check,
)
