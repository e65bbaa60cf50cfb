"""Throughput of users without think time: USL, within the CPU bound of the measured server.

If the interval of κ reaches 0, no peak was observed, and the curve has none: with few levels, κ
would turn noise into a decline beyond them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dyno.decide.size.evidence import Load
from dyno.decide.size.lot import UNKNOWN, Lot
from dyno.statistics import usl, usl_draws
from dyno.statistics.paired import Floats

FEWEST = 3
"""The fewest levels that a curve is fitted to."""

ENOUGH = 6
"""Levels from which on a curve is well determined."""

LOW = 0.05
"""The lower end of a 90 % interval."""


@dataclass(frozen=True)
class Growth:
    """Throughput as a function of users, with draws.

    Attributes:
        curves: The draws.
        peak: Whether a peak was observed.
        bound: Transactions per second at which server and driver use all CPUs of the measured
            machine, per draw; infinite if unknown.
        most: The most users that were measured.
    """

    curves: usl_draws.Curves
    peak: bool
    bound: Floats
    most: float

    def at(self, users: Floats | float) -> Floats:
        """Transactions per second: X(N) ≤ min(USL(N), c / D)."""
        return np.minimum(self.curves.at(users), self.bound)


def growth(loads: Sequence[Load], lot: Lot) -> Growth | None:
    """Fits levels of users that never think; None with fewer than three of them.

    The error of a level is the larger of its noise within the run and the scatter around the curve.
    """
    own = [one for one in loads if not one.open and not one.thinks]
    levels = np.array(sorted({one.users for one in own}))
    if len(levels) < FEWEST:
        return None
    at = [[one for one in own if one.users == level] for level in levels]
    means = [float(np.mean(np.log([one.tps for one in level]))) for level in at]
    logs = np.array(means, float)
    best = usl.fit(list(levels), means)
    scatter = 0.0
    if len(levels) > FEWEST:
        left = logs - np.log([best.at(float(level)) for level in levels])
        scatter = float(np.sqrt(np.sum(left**2) / (len(levels) - FEWEST)))
    noise = [
        np.sqrt(np.mean([(UNKNOWN if one.noise is None else one.noise) ** 2 for one in level]))
        / np.sqrt(len(level))
        for level in at
    ]
    error = np.maximum(np.array(noise), scatter)
    drawn = logs + lot.normal(len(levels), 1) * error
    busiest = max(own, key=lambda one: one.tps)
    machines = [
        one.whole_cpu_s / one.cpus
        for one in own
        if one.whole_cpu_s is not None and one.tps >= busiest.tps / 2
    ]
    bound = lot.fixed(np.inf) if not machines else 1 / lot.sample(machines, busiest.noise, 2)
    curves = usl_draws.curves(best, levels, drawn)
    peak = bool(np.quantile(curves.kappa, LOW) > 0)
    if not peak:
        curves = usl_draws.curves(best, levels, drawn, peak=False)
    return Growth(curves, peak, bound, float(levels[-1]))
