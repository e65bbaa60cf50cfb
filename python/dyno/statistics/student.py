"""Student's t intervals of a mean from few independent values."""

from __future__ import annotations

import math
from collections.abc import Sequence


def quantile(degrees: int) -> float:
    """The two-sided 95 % quantile for ``degrees`` degrees of freedom."""
    from scipy import special  # importing all of scipy.stats takes most of a second

    return float(special.stdtrit(degrees, 0.975))


def half_width(values: Sequence[float]) -> float | None:
    """Half of the 95 % interval of the mean: t(n − 1) · s / √n.

    Returns:
        None for fewer than two values.
    """
    count = len(values)
    if count < 2:
        return None
    mean = sum(values) / count
    variance = sum((value - mean) ** 2 for value in values) / (count - 1)
    return quantile(count - 1) * math.sqrt(variance / count)
