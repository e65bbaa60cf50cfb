"""User data capacity of a certificate, in TB of uncompressed user data."""

from __future__ import annotations

import math
from collections.abc import Sequence

TEMP_SHARE = 0.25
"""Share of the space that is reserved for temporary data."""
FREE_SHARE = 0.10
"""Share of the space that stays free."""

_EXACT = 1e-9
"""Rounding errors that must not change a floor: 0.3 TB is 0.3 TB."""


def maximum(usable: float, temp_share: float, free_share: float, compression: float) -> float:
    """Maximum user data capacity: what fits the space under the data, ignoring throughput.

    Args:
        usable: Usable space, in any unit of bytes, which is also that of the result.
        temp_share: Share reserved for temporary data, 0 to 1.
        free_share: Share that stays free, 0 to 1.
        compression: Bytes of user data per byte on storage.
    """
    return usable * (1 - temp_share) * (1 - free_share) * compression


def rated(reference_tb: float, relatives: Sequence[float], most: float) -> float:
    """Rated user data capacity in TB: the reference's, scaled by the mean relative throughput.

    Never above the maximum capacity.

    Args:
        reference_tb: User data that the reference is rated for.
        relatives: Relative throughput of each form, in %; at least one.
        most: Maximum user data capacity in TB.
    """
    scaled = reference_tb * sum(relatives) / len(relatives) / 100
    return min(floored(scaled), whole(most))


def floored(value: float) -> float:
    """Rounds down to tens; below 10, to two significant digits."""
    if value >= 10:
        return 10.0 * math.floor(value / 10 + _EXACT)
    return _significant(value)


def whole(value: float) -> float:
    """Rounds down to a whole number; below 10, to two significant digits."""
    return float(math.floor(value + _EXACT)) if value >= 10 else _significant(value)


def _significant(value: float) -> float:
    if value <= 0:
        return 0.0
    places = 1 - math.floor(math.log10(value))
    return math.floor(value * 10**places + _EXACT) / 10**places
