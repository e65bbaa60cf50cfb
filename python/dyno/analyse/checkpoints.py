"""Checkpoints that began in the measured time of a level."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise

from dyno.analyse.level import Level
from dyno.bundle import metrics
from dyno.bundle.model import Estimate, Phase
from dyno.bundle.observed import Series
from dyno.bundle.phases.oltp import Checkpoints, OltpDetail
from dyno.bundle.series import Key
from dyno.contracts.checkpoints import BEGUN, SOURCE


def checkpoints(
    at: metrics.Level, level: Level, phase: Phase[OltpDetail], series: Mapping[Key, Series]
) -> Iterable[Estimate]:
    """How many, and the longest time from one to the next.

    Counts run from the first reading within the window to the last, so every counted checkpoint
    began in it. One in the second at either end may be missed. A server that was not read, or
    reset its counters, has no estimate.

    Args:
        at: Its metrics.
        level: What was measured.
        phase: Its phase; those of bundles from before the probe have the count themselves.
        series: What the probes sampled in the run.
    """
    if phase.detail.checkpoints is not None:
        yield from _told(at, phase.detail.checkpoints)
        return
    if phase.part_of is not None:
        return  # a server has them for all its databases
    during = {
        metric: [
            found
            for found in one.readings
            if phase.start_ns <= found.t_ns <= (phase.end_ns or found.t_ns)
        ]
        for (source, subject, metric), one in series.items()
        if (source, subject) == (SOURCE, phase.target)
    }
    counts = [one.value for one in during.get(BEGUN, ())]
    if not counts or any(after < before for before, after in pairwise(counts)):
        return
    inside = [
        one.value for one in during[BEGUN] if level.rates.start_ns <= one.t_ns <= level.rates.end_ns
    ]
    yield at.checkpoints.estimate(
        inside[-1] - inside[0] if inside else 0.0,
        "the server's count: the last reading in the window − the first",
    )
    for metric, found in during.items():
        if metric != BEGUN and found:
            yield at.checkpoint_interval_s.estimate(found[-1].value, metric)


def _told(at: metrics.Level, counted: Checkpoints) -> Iterable[Estimate]:
    if counted.count is not None:
        yield at.checkpoints.estimate(counted.count, counted.source or "")
    if counted.interval_s is not None:
        yield at.checkpoint_interval_s.estimate(counted.interval_s, counted.setting or "")
