"""Contrasts of the cells of a block design with missing cells or runs.

The model is that of randomised complete blocks (Montgomery, Design and Analysis of Experiments,
chapter 4): a value is a cell effect plus a block effect plus noise. Every cell has its own mean, so
the model makes no assumption about interactions of any order, and the residuals are pure noise.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dyno.statistics.paired import CONFIDENCE, Floats

_ESTIMABLE = 1e-8
_NO_NOISE = 1e-20
"""Share of the total sum of squares below which residuals are rounding errors."""

_UNEVEN = 0.01
_FEWEST_FOR_SPREAD = 3

Contrast = Mapping[Any, float]
"""Cell weights that sum to zero."""


@dataclass(frozen=True)
class Tested:
    """Contrasts tested together.

    Attributes:
        p: p value of the F test that all of them are zero.
        share: Partial eta squared: their sum of squares divided by the sum with the noise.
        values: Estimate, low and high of each, at the confidence of all of Dyno's intervals.
    """

    p: float
    share: float
    values: tuple[tuple[float, float, float], ...]


class Cells:
    """Least squares of cells and blocks, by statsmodels.

    Attributes:
        freedom: Degrees of freedom of the noise; below 1 no test is possible.
    """

    def __init__(
        self, blocks: Sequence[Hashable], cells: Sequence[Hashable], values: Sequence[float]
    ) -> None:
        """Takes one block, cell and value per run."""
        from statsmodels.regression.linear_model import OLS

        names = list(dict.fromkeys(cells))
        self._places = {name: place for place, name in enumerate(names)}
        matrix = np.hstack([_dummies(cells, names), _dummies(blocks, list(dict.fromkeys(blocks)))])
        self._cells = np.array([self._places[cell] for cell in cells])
        self._width = matrix.shape[1]
        self._rows = np.linalg.pinv(matrix) @ matrix
        y = np.asarray(values, float)
        with warnings.catch_warnings():
            # Blocks and cells always share one column; ``knows`` detects any other rank deficiency.
            warnings.simplefilter("ignore")
            self._fit: Any = OLS(y, matrix).fit()
        self.freedom = int(self._fit.df_resid)
        self._noisy = float(self._fit.ssr) > _NO_NOISE * max(float(y @ y), 1e-300)

    def knows(self, contrast: Contrast) -> bool:
        """Whether the contrast is estimable from the runs, through blocks that its cells share."""
        row = self._row([contrast])[0]
        return bool(np.abs(row - row @ self._rows).max() < _ESTIMABLE)

    def test(self, contrasts: Sequence[Contrast]) -> Tested:
        """Tests one or more contrasts that are linearly independent and estimable.

        Raises:
            ValueError: If there are too few runs to estimate the noise.
        """
        if self.freedom < 1:
            raise ValueError("no run is left to know the noise by")
        rows = self._row(contrasts)
        if not self._noisy:
            values = [float(value) for value in rows @ self._fit.params]
            nothing = bool(np.allclose(values, 0, atol=1e-9))
            exact = tuple((value, value, value) for value in values)
            return Tested(1.0 if nothing else 0.0, 0.0 if nothing else 1.0, exact)
        single: Any = self._fit.t_test(rows)
        bounds = np.atleast_2d(single.conf_int(1 - CONFIDENCE))
        joint: Any = self._fit.f_test(rows)
        explained = float(np.squeeze(joint.fvalue)) * len(rows)
        p = float(np.squeeze(joint.pvalue))
        return Tested(
            p if math.isfinite(p) else 1.0,
            explained / (explained + self.freedom),
            tuple(
                (float(value), float(low), float(high))
                for value, (low, high) in zip(np.atleast_1d(single.effect), bounds, strict=True)
            ),
        )

    def spread(self) -> tuple[float, float] | None:
        """Returns the smallest and largest noise of a cell if they differ significantly, else None.

        Levene's test on the residuals about medians (Brown & Forsythe 1974). The model assumes
        equal
        noise in all cells; otherwise the intervals of the noisiest cells are too narrow.
        """
        from scipy.stats import levene

        left = np.asarray(self._fit.resid, float)
        own = [left[self._cells == place] for place in range(len(self._places))]
        own = [values for values in own if len(values) >= _FEWEST_FOR_SPREAD]
        if not self._noisy or len(own) < 2:
            return None
        found: Any = levene(*own)
        if not float(found.pvalue) < _UNEVEN:
            return None
        # Each value also shifted its cell and block means, which absorbed part of its noise.
        scale = len(left) / max(self.freedom, 1)
        sizes = [float(np.sqrt(scale * np.mean(values**2))) for values in own]
        return min(sizes), max(sizes)

    def _row(self, contrasts: Sequence[Contrast]) -> Floats:
        rows = np.zeros((len(contrasts), self._width))
        for row, contrast in zip(rows, contrasts, strict=True):
            for cell, weight in contrast.items():
                row[self._places[cell]] += weight
        return rows


def _dummies(of: Sequence[Hashable], names: Sequence[Hashable]) -> Floats:
    places = {name: place for place, name in enumerate(names)}
    made = np.zeros((len(of), len(names)))
    made[np.arange(len(of)), [places[name] for name in of]] = 1
    return made
