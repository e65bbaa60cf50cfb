"""Background load unknown: a phase was too short to measure background load."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.bundle.model import CpuUse
from dyno.config.units import seconds_text
from dyno.decide.case import Case
from dyno.decide.quiet import FEWEST_TICKS, noise
from dyno.decide.rule import Rule, Ruling, Weight
from dyno.decide.view import is_local

_KINDS = ("io", "load", "dss", "oltp", "certify")


def _check(case: Case) -> Iterable[Ruling]:
    short = [
        phase
        for phase in case.phases(*_KINDS)
        if phase.status == "done"
        and phase.part_of is None
        and is_local(case, phase.target)
        and noise(case, phase) is None
    ]
    if short:
        others = f" and {len(short) - 1} more" if len(short) > 1 else ""
        yield Ruling(
            "warning",
            f"{short[0].title}{others}: too short to measure background load: "
            f"{seconds_text(short[0].seconds)}.",
            short[0].name,
            tuple(f"{phase.name}: {_ticks(phase.cpu)}" for phase in short),
        )


def _ticks(use: CpuUse | None) -> str:
    return "no counters" if use is None else f"ticks = {use.ticks}"


RULE = Rule(
    code="background-load-unknown",
    weight=Weight.DOUBTFUL,
    definition=(
        f"A measured phase, except index creation, has fewer than three samples and fewer than "
        f"{FEWEST_TICKS} ticks of CPU time (all CPUs; usually 10 ms each). Always a warning."
    ),
    explanation="Background load or CPU steal may have gone unnoticed. Use more data or queries.",
    check=_check,
)
