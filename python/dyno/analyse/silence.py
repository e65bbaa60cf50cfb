"""Silence: lost connections, and time without completions although operations were due."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.analyse.level import Level
from dyno.bundle import metrics
from dyno.bundle.model import Estimate
from dyno.bundle.stalls import stretches
from dyno.bundle.tables import counts


def silence(at: metrics.Level, level: Level) -> Iterable[Estimate]:
    """``connections_lost``, ``silent_s`` and ``silence_expected`` of a level.

    Time in which the schedule starts nothing is not silence. The number of transactions expected in
    a silent stretch shows whether it can be chance: with random arrivals the probability is e^-n.
    An open loop expects the scheduled number, a closed loop its mean. A replay has no such numbers.
    """
    lost = sum(counts(row["errors"]).get("connection_lost", 0) for row in level.rows)
    if level.is_replay:  # a log has pauses of its own
        yield at.connections_lost.estimate(lost, level.table)
        return
    step = level.rates.interval_s
    silent, expected = 0, 0.0
    for first, count in stretches(level.rates.values):
        places = range(first, first + count)
        due = [_due(level, place * step, (place + 1) * step) for place in places]
        silent += count if level.rate is None else sum(one > 0 for one in due)
        expected = max(expected, sum(due))
    yield at.connections_lost.estimate(lost, level.table)
    yield at.silent_s.estimate(
        silent * step,
        f"{level.table}: whole intervals of {step:g} s without a completed transaction, "
        "while some were due",
    )
    yield at.silence_expected.estimate(
        expected,
        "transactions expected in the longest such stall: those due, or mean throughput × "
        "its length",
    )


def _due(level: Level, start_s: float, end_s: float) -> float:
    """Transactions expected from ``start_s`` to ``end_s`` of the measurement window."""
    if level.rate is not None:
        return level.rate.due(start_s, end_s)
    mean = sum(level.rates.values) / len(level.rates.values)
    return mean * (end_s - start_s)
