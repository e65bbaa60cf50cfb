"""Multiple comparisons: adjusted p values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import numpy as np

from dyno.statistics.paired import Floats

Family = Literal["headline", "exploratory"]


def adjusted(p: Mapping[str, float], family: Family) -> dict[str, float]:
    """Adjusts the p values of a family of questions for their number.

    Headline questions use Holm's method, which controls the chance of any false positive.
    Exploratory questions use Benjamini-Hochberg, which controls the false discovery rate.
    """
    if len(p) < 2:
        return dict(p)
    from scipy.stats import false_discovery_control

    values = np.array(list(p.values()), float)
    found = _holm(values) if family == "headline" else false_discovery_control(values)
    return {name: float(value) for name, value in zip(p, found, strict=True)}


def _holm(p: Floats) -> Floats:
    """Multiplies the i-th smallest of n values by n − i + 1 and makes the result monotonic.

    Holm 1979, Scandinavian Journal of Statistics 6. Scipy lacks it. The one in statsmodels runs a
    full garbage collection on each call, which takes longer than the whole analysis of a study.
    """
    order = np.argsort(p)
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    found = np.empty_like(p)
    found[order] = np.minimum(stepped, 1)
    return found
