"""Checkpoints that started in the measurement window of a level."""

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
    """Counts checkpoints and finds the longest time between two.

    The count is the difference between the first and the last reading in the window, so every
    counted checkpoint started in it. It can miss a checkpoint in the first or last second. Without
    samples of the server, or after it reset its counters, nothing is reported.

    Args:
        at: The metrics of the level.
        level: The measured level.
        phase: Its phase. Bundles from before the probe store the count there.
        series: The probe samples of the run.
    """
    if phase.detail.checkpoints is not None:
        yield from _from_detail(at, phase.detail.checkpoints)
        return
    if phase.part_of is not None:
        return  # the counters are per server, not per database
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


def _from_detail(at: metrics.Level, counted: Checkpoints) -> Iterable[Estimate]:
    if counted.count is not None:
        yield at.checkpoints.estimate(counted.count, counted.source or "")
    if counted.interval_s is not None:
        yield at.checkpoint_interval_s.estimate(counted.interval_s, counted.setting or "")
