"""Series whose neighbours are alike, as the noise of a disk."""

from __future__ import annotations

from typing import Any

import numpy as np


def alike(
    rng: np.random.Generator, count: int, spread: float, phi: float
) -> np.ndarray[Any, np.dtype[np.float64]]:
    """AR(1) round 1 of such a spread, steady from its first value; not below 0."""
    made = np.empty(count)
    made[0] = rng.normal(0, spread)
    for place in range(1, count):
        made[place] = phi * made[place - 1] + rng.normal(0, spread * (1 - phi**2) ** 0.5)
    return np.maximum(1 + made, 0)
