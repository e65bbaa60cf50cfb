"""Checkpoints that began in the measured time of a level."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise

from dyno.analyse.level import Level
from dyno.bundle.model import Estimate, Phase
from dyno.bundle.observed import Series
from dyno.bundle.phases.oltp import Checkpoints, OltpDetail
from dyno.bundle.series import Key
from dyno.contracts.checkpoints import BEGUN, SOURCE


def checkpoints(
    name: str, level: Level, phase: Phase[OltpDetail], series: Mapping[Key, Series]
) -> Iterable[Estimate]:
    """How many, and the longest time from one to the next.

    Counts run from the first reading within the window to the last, so every counted checkpoint
    began in it. One in the second at either end may be missed. A server that was not read, or
    reset its counters, has no estimate.

    Args:
        name: How the names of the figures start.
        level: What was measured.
        phase: Its phase; those of bundles from before the probe have the count themselves.
        series: What the probes sampled in the run.
    """
    if phase.detail.checkpoints is not None:
        yield from _told(name, phase.detail.checkpoints)
        return
    if phase.part_of is not None:
        return  # a server has them for all its databases
    during = {
        metric: [
            at for at in one.readings if phase.start_ns <= at.t_ns <= (phase.end_ns or at.t_ns)
        ]
        for (source, subject, metric), one in series.items()
        if (source, subject) == (SOURCE, phase.target)
    }
    counts = [at.value for at in during.get(BEGUN, ())]
    if not counts or any(after < before for before, after in pairwise(counts)):
        return
    inside = [
        at.value for at in during[BEGUN] if level.rates.start_ns <= at.t_ns <= level.rates.end_ns
    ]
    yield Estimate(
        name=f"{name}.checkpoints",
        value=inside[-1] - inside[0] if inside else 0.0,
        unit="",
        source="the server's count: the last reading in the window − the first",
    )
    for metric, found in during.items():
        if metric != BEGUN and found:
            yield Estimate(
                name=f"{name}.checkpoint_interval_s",
                value=found[-1].value,
                unit="s",
                source=metric,
            )


def _told(name: str, counted: Checkpoints) -> Iterable[Estimate]:
    for figure, value, unit, source in (
        ("checkpoints", counted.count, "", counted.source),
        ("checkpoint_interval_s", counted.interval_s, "s", counted.setting),
    ):
        if value is not None:
            yield Estimate(name=f"{name}.{figure}", value=value, unit=unit, source=source or "")
