"""Seeds derived from the run's seed, so that runs with adjacent seeds share no random numbers."""

from __future__ import annotations

_BITS = 53
"""Every JSON reader preserves integers of this many bits."""


def derived(seed: int, workload: str, number: int, purpose: str) -> int:
    """The seed of number ``number`` (a pair, window, database …) for ``purpose``, below 2^53."""
    from dyno import _core

    return _core.derive_seed(seed, workload, number, purpose) >> (64 - _BITS)


def in_series(seed: int, workload: str, place: int, purpose: str) -> int:
    """The seed of a place in a series of measurements; the first has the run's own.

    With the inputs of an earlier one, a measurement would find their pages in the cache.
    """
    return derived(seed, workload, place, purpose) if place else seed
