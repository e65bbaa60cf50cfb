"""Bootstrap draws of measured values, which are positive: on logarithms.

Three levels or more are a sample: draws follow Student's t of their mean (``usl.means``), so noise
within a run and differences between levels both count. One or two levels give no such
interval: their spread is the noise within the run, or half of what separates the two.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dyno.statistics import usl
from dyno.statistics.paired import Floats

DRAWS = 10_000
UNKNOWN = 0.05
"""Standard error, as a share, of a value measured once in a window too short to show its noise."""

_QUANTILES = (0.05, 0.5, 0.95)


class Spread(NamedTuple):
    """A median with its 90 % interval."""

    low: float
    mid: float
    high: float


def spread(drawn: Floats) -> Spread:
    """The 5th, 50th and 95th percentile of draws."""
    found = np.quantile(drawn, _QUANTILES, method="inverted_cdf")
    return Spread(*(float(one) for one in found))


@dataclass(frozen=True)
class Lot:
    """Independent streams of draws: the same seed and purpose give the same ones.

    Attributes:
        draws: How many draws each value has.
    """

    draws: int = DRAWS
    seed: int = 1

    def fixed(self, value: float) -> Floats:
        """A value without uncertainty, such as the user's word."""
        return np.full(self.draws, float(value))

    def sample(self, values: Sequence[float], noise: float | None, purpose: int) -> Floats:
        """Draws of the mean of ``values``.

        Args:
            values: At least one, all above zero.
            noise: Standard error of one as a share; None if unknown.
            purpose: Separates the streams of values drawn together.
        """
        logs = np.log(np.asarray(values, float))
        seed = self._seed(purpose)
        if len(logs) >= usl.FEWEST_BLOCKS:
            return np.exp(usl.means(logs[:, None], self.draws, seed)[:, 0])
        error = UNKNOWN if noise is None else noise
        error = max(error, float(np.ptp(logs)) / 2)
        drawn = np.random.default_rng(seed).normal(size=self.draws)
        return np.exp(logs.mean() + min(error, math.log(10)) * drawn)

    def normal(self, shape: int, purpose: int) -> Floats:
        """Standard normal draws: a row per draw, ``shape`` columns."""
        return np.random.default_rng(self._seed(purpose)).normal(size=(self.draws, shape))

    def _seed(self, purpose: int) -> int:
        from dyno.runtime.seeds import derived

        return derived(self.seed, "size", purpose, "draws")
