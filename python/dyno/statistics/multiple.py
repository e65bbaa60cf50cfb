"""Many questions at once: adjusted p values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

Family = Literal["headline", "exploratory"]

_METHODS = {"headline": "holm", "exploratory": "fdr_bh"}


def adjusted(p: Mapping[str, float], family: Family) -> dict[str, float]:
    """The p values of a family of questions, for as many as were asked.

    Headline questions by Holm's method: the chance of any false yes is kept. Exploratory ones by
    Benjamini's and Hochberg's: the share of false ones among the yeses is.
    """
    if len(p) < 2:
        return dict(p)
    from statsmodels.stats.multitest import multipletests

    names = list(p)
    found: Any = multipletests([p[name] for name in names], method=_METHODS[family])
    return {name: float(value) for name, value in zip(names, found[1], strict=True)}
