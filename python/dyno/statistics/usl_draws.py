"""Many draws of the universal scalability law at once, for bootstraps (``statistics.usl``).

With relative errors, 1 = (a + bN + cN(N − 1)) / (N / X) is a linear least squares problem with
non-negative coefficients. With three coefficients, the best of the sets of active ones is the
solution (the conditions of Karush, Kuhn and Tucker), so all draws are solved by a few fixed
matrices. A curve without the first two is left out: the throughput of one would be infinite. The
weights are those of the best fit.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from dyno.statistics.paired import Floats
from dyno.statistics.usl import Usl


@dataclass(frozen=True)
class Curves:
    """Curves, one per draw: coefficients of N / X for 1, N and N(N − 1)."""

    terms: Floats

    @property
    def gamma(self) -> Floats:
        """Throughput of one."""
        return 1 / (self.terms[:, 0] + self.terms[:, 1])

    @property
    def sigma(self) -> Floats:
        """Contention."""
        return self.terms[:, 1] * self.gamma

    @property
    def kappa(self) -> Floats:
        """Coherency."""
        return self.terms[:, 2] * self.gamma

    def at(self, n: Floats | float) -> Floats:
        """The throughput of each curve at ``n``."""
        n = np.asarray(n, float)
        one, line, both = self.terms.T
        return n / (one + line * n + both * n * (n - 1))


def curves(best: Usl, levels: Floats, logs: Floats, *, peak: bool = True) -> Curves:
    """Fits a curve to each row of ``logs``.

    Args:
        best: The fit to the measured values.
        levels: Users or nodes.
        logs: Logarithms of throughput: one row per draw, one column per level.
        peak: Whether κ may be above zero.
    """
    n = np.asarray(levels, float)
    weight = np.array([best.at(float(one)) for one in n]) / n
    columns = np.stack([np.ones_like(n), n, n * (n - 1)], axis=1) * weight[:, None]
    wanted = n * np.exp(-logs) * weight
    found = np.zeros((len(logs), 3))
    least = np.full(len(logs), np.inf)
    terms = 3 if peak else 2
    for count in range(1, terms + 1):
        for active in map(list, combinations(range(terms), count)):
            if active == [2]:
                continue
            own = columns[:, active]
            theta = wanted @ np.linalg.pinv(own).T
            error = ((theta @ own.T - wanted) ** 2).sum(axis=1)
            better = np.all(theta >= 0, axis=1) & (error < least)
            least = np.where(better, error, least)
            full = np.zeros((len(logs), 3))
            full[:, active] = theta
            found = np.where(better[:, None], full, found)
    return Curves(found)
