"""Many questions at once: adjusted p values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import numpy as np

from dyno.statistics.paired import Floats

Family = Literal["headline", "exploratory"]


def adjusted(p: Mapping[str, float], family: Family) -> dict[str, float]:
    """The p values of a family of questions, for as many as were asked.

    Headline questions by Holm's method: the chance of any false yes is kept. Exploratory ones by
    Benjamini's and Hochberg's: the share of false ones among the yeses is.
    """
    if len(p) < 2:
        return dict(p)
    from scipy.stats import false_discovery_control

    values = np.array(list(p.values()), float)
    found = _holm(values) if family == "headline" else false_discovery_control(values)
    return {name: float(value) for name, value in zip(p, found, strict=True)}


def _holm(p: Floats) -> Floats:
    """The smallest times all, the next times all but one, and so on, none below one before it.

    Holm 1979, Scandinavian Journal of Statistics 6. Scipy has none, and statsmodels' collects all
    garbage at each call, which takes longer than the whole analysis of a study.
    """
    order = np.argsort(p)
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    found = np.empty_like(p)
    found[order] = np.minimum(stepped, 1)
    return found
