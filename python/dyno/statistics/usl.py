"""Universal scalability law: throughput lost to contention and coherency.

X(N) = γN / (1 + σ(N − 1) + κN(N − 1)) (Gunther, Guerrilla Capacity Planning, 2007): γ is the
throughput of one, σ the serial share (contention), κ the cost of coherency per pair. With κ
above zero throughput peaks at N* = √((1 − σ) / κ).

N / X is a sum of three terms with non-negative coefficients, one of which keeps σ below 1. Least
squares on logarithms then takes a few Gauss-Newton steps. Each step is a bounded least squares
problem that ``scipy.optimize.nnls`` solves.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dyno.statistics.paired import CONFIDENCE, Floats

FEWEST_LEVELS = 4
FEWEST_BLOCKS = 3
DRAWS = 999
_STEPS = 30
_FARTHEST = 50.0
_LEAST = 1e-9


@dataclass(frozen=True)
class Usl:
    """A curve: throughput of one, contention and coherency."""

    gamma: float
    sigma: float
    kappa: float

    @property
    def peak(self) -> float:
        """The N of peak throughput; infinite without coherency."""
        return math.sqrt(max(1 - self.sigma, 0) / self.kappa) if self.kappa > 0 else math.inf

    def at(self, n: float) -> float:
        """The throughput at ``n``."""
        return self.gamma * n / (1 + self.sigma * (n - 1) + self.kappa * n * (n - 1))


@dataclass(frozen=True)
class Curve:
    """A fitted curve with intervals of its parameters by name: gamma, sigma, kappa, peak.

    The peak may be infinite: then none was observed.
    """

    usl: Usl
    intervals: dict[str, tuple[float, float]]


def fit(levels: Sequence[float], logs: Sequence[float] | Floats) -> Usl:
    """Fits the curve to logarithms of throughput at ``levels`` by least squares.

    σ is bounded to 0 to 1, κ to 0 and above.
    """
    n, y = np.asarray(levels, float), np.asarray(logs, float)
    wanted = np.log(n) - y
    level = float(wanted.mean())
    return _fitted(_terms(n), wanted - level, math.exp(-level))


def curve(levels: Sequence[float], table: Floats, draws: int = DRAWS, seed: int = 1) -> Curve:
    """Fits the curve to block means, with intervals from the variation between blocks.

    ``table`` holds logarithms: one row per block, one column per level, none missing. The bootstrap
    draws means of all blocks with random normal weights and Student's tails (``means``). Resampling
    of few blocks would give intervals that are too narrow.

    Raises:
        ValueError: With fewer than 3 blocks or 4 levels.
    """
    if table.shape[0] < FEWEST_BLOCKS or table.shape[1] < FEWEST_LEVELS:
        raise ValueError(f"a curve takes {FEWEST_BLOCKS} blocks and {FEWEST_LEVELS} levels")
    n = np.asarray(levels, float)
    best = fit(levels, table.mean(axis=0))
    terms = _terms(n)
    drawn: list[Usl] = []
    for logs in means(table, draws, seed):
        wanted = np.log(n) - logs
        level = float(wanted.mean())
        drawn.append(_fitted(terms, wanted - level, math.exp(-level)))
    intervals = {
        name: _interval([float(getattr(one, name)) for one in drawn], float(getattr(best, name)))
        for name in ("gamma", "sigma", "kappa", "peak")
    }
    return Curve(best, intervals)


def means(table: Floats, draws: int, seed: int) -> Floats:
    """Bootstrap draws of the column means, treating the rows as a sample: one draw per row.

    Each draw adds the deviations of the rows with independent normal weights, scaled like Student's
    t: for any weighted sum of columns, the quantiles of the draws are the bounds of Student's
    interval.
    """
    lot = np.random.default_rng(seed)
    blocks = len(table)
    centre = table.mean(axis=0)
    weights = lot.normal(size=(draws, blocks)) / math.sqrt((blocks - 1) * blocks)
    stretch = np.sqrt((blocks - 1) / lot.chisquare(blocks - 1, size=(draws, 1)))
    moved = weights @ (table - centre) * stretch
    return centre + np.clip(moved, -_FARTHEST, _FARTHEST)


def _terms(n: Floats) -> Floats:
    """The columns that sum to N / X: those of 1 - σ, σ and κ, each divided by γ."""
    return np.stack([np.ones_like(n), n, n * (n - 1)], axis=1)


def _fitted(terms: Floats, wanted: Floats, scale: float) -> Usl:
    """The curve with the logarithms ``wanted`` of N / X, with γ in units of ``scale``."""
    from scipy.optimize import nnls

    sizes = terms.max(axis=0)
    columns = terms / sizes
    theta, _ = nnls(columns / np.exp(wanted)[:, None], np.ones(len(wanted)))
    theta = theta + _LEAST * theta.max()  # the throughput of one is above zero
    error = _error(columns, theta, wanted)
    for _ in range(_STEPS):
        now = columns @ theta
        goal, _ = nnls(columns / now[:, None], wanted - np.log(now) + 1)
        step, better, after = 1.0, theta, error
        while step > 1e-3:
            better = theta + step * (goal - theta)
            after = _error(columns, better, wanted)
            if after < error:
                break
            step /= 2
        if not after < error * (1 - 1e-9):
            break
        theta, error = better, after
    one, line, both = (float(value) for value in theta / sizes)
    whole = one + line
    return Usl(scale / whole, line / whole, both / whole)


def _error(columns: Floats, theta: Floats, wanted: Floats) -> float:
    now = columns @ theta
    return float(np.sum((np.log(now) - wanted) ** 2)) if np.all(now > 0) else math.inf


def _interval(drawn: Sequence[float], best: float) -> tuple[float, float]:
    low, high = np.quantile(
        drawn, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2], method="inverted_cdf"
    )
    return min(float(low), best), max(float(high), best)
