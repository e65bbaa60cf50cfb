"""What flash would gain for a load that was observed: log, temporary files and a read cache on it.

The time of the sessions is divided by what they did; the parts that flash serves shrink with the
latencies, locks with all of it (they wait for other sessions). With as many users as before, the
throughput grows as the time of a transaction shrinks (Little's law), up to what CPUs and the writes
that stay on the slow volume allow (operational bounds; Denning and Buzen, 1978):

    R = (rest + Σ part · flash / origin) / (1 − lock),  b = bound^−p
    gain = ((1 − b) · R^p + b)^(−1/p), which is 1 without a change, and the bound if R is 0

A cache with hit ratio h serves reads in (1 − h) + h · hit / miss of the time. How closely a bound
is reached is unknown: p is between 1, where waits and the bound's resource never overlap, and
infinity, where they always do. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

Part = Literal["reads", "log", "temp", "lock", "rest"]
"""What sessions wait for; ``rest`` is all other time, which stays as it is."""
PARTS: tuple[Part, ...] = get_args(Part)
Choice = Literal["cache", "log", "temp"]
"""What can be on flash."""
CHOICES: tuple[Choice, ...] = get_args(Choice)

DRAWS = 2000
_BLOCK_S = 10
"""Seconds that are drawn together, because neighbours are alike."""
_LEVEL = 95.0
_MOST_LOCKED = 0.95
_LEAST_OVERLAP = 1e-3
"""The smallest 1 / p; below it, waits and the bound's resource overlap completely."""
WORTH = 1.05
"""A choice is proposed if its gain, given the others, is at least this, surely."""

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Load:
    """A load that was observed.

    Attributes:
        waits: By part, average sessions in it, one value for each second.
        users: Sessions that always have work, so that less time for each means more throughput; 0
            if they may have none.
        read_ms, commit_ms: Mean read of the data, and write and sync of the log, on the slow
            volumes; None if there were none.
        bounds: What else limits the throughput, as a multiple of the observed one.
    """

    waits: Mapping[Part, Floats]
    users: float
    read_ms: float | None
    commit_ms: float | None
    bounds: Mapping[str, float]


@dataclass(frozen=True)
class Flash:
    """Latencies of a flash device.

    Attributes:
        read_ms: Of reads, one value each.
        write_ms: Of writes with a sync.
        overhead_ms: What a read through the cache takes longer.
    """

    read_ms: Floats
    write_ms: Floats
    overhead_ms: float = 0.03


@dataclass(frozen=True)
class Gain:
    """How many times the observed throughput is expected, with its 95 % interval.

    Attributes:
        bound: What limits it, in the draws' majority; empty if the load itself does.
    """

    times: float
    low: float
    high: float
    bound: str


def gain(load: Load, flash: Flash, hits: tuple[float, float], chosen: frozenset[Choice]) -> Gain:
    """The expected gain of what is put on flash.

    Args:
        load: The load.
        flash: The flash device.
        hits: Lowest and highest hit ratio of the cache, each 0 to 1.
        chosen: What is on flash.
    """
    random = np.random.default_rng(1)
    shares = _shares(load, random)
    factors: dict[Part, Floats] = {}
    if "cache" in chosen and load.read_ms:
        ratio = random.uniform(*hits, DRAWS)
        hit = (_means(flash.read_ms, random) + flash.overhead_ms) / load.read_ms
        factors["reads"] = (1 - ratio) + ratio * hit
    if "temp" in chosen and load.read_ms:
        factors["temp"] = _means(flash.read_ms, random) / load.read_ms
    if "log" in chosen and load.commit_ms:
        factors["log"] = _means(flash.write_ms, random) / load.commit_ms
    saved = sum(
        (shares[part] * (1 - factor) for part, factor in factors.items()), start=np.zeros(DRAWS)
    )
    lock = np.minimum(shares["lock"], _MOST_LOCKED)
    times = (1 - lock) / np.maximum(1 - lock - saved, 1e-3)
    least = min(load.bounds, key=lambda name: load.bounds[name], default="")
    limit = max(1.0, load.bounds[least]) if least else np.inf
    limited = times
    if least:
        power = 1 / random.uniform(_LEAST_OVERLAP, 1, DRAWS)
        bound_log = -power * np.log(limit)
        with np.errstate(divide="ignore"):  # of a bound of 1
            rest_log = np.log1p(-np.exp(bound_log)) - power * np.log(times)
        limited = np.exp(-np.logaddexp(rest_log, bound_log) / power)
    low, middle, high = np.percentile(limited, [(100 - _LEVEL) / 2, 50, (100 + _LEVEL) / 2])
    bound = least if np.median(times) > limit else ""
    return Gain(float(middle), float(low), float(high), bound)


def proposed(load: Load, flash: Flash, hits: tuple[float, float]) -> frozenset[Choice]:
    """What is worth to be on flash: all but what adds nothing to the rest."""
    chosen = frozenset(CHOICES)
    for one in CHOICES:
        rest = chosen - {one}
        alone = gain(load, flash, hits, frozenset({one}))
        with_it, without = gain(load, flash, hits, chosen), gain(load, flash, hits, rest)
        if alone.low < WORTH and with_it.times < WORTH * without.times:
            chosen = rest
    return chosen


def _shares(load: Load, random: np.random.Generator) -> dict[Part, Floats]:
    """Shares of the sessions' time by part, one value a draw of whole blocks of seconds."""
    seconds = max((values.size for values in load.waits.values()), default=0)
    if not seconds:
        return {part: np.zeros(DRAWS) for part in PARTS}
    block = min(_BLOCK_S, seconds)
    starts = random.integers(0, seconds - block + 1, (DRAWS, -(-seconds // block)))
    picked = (starts[:, :, None] + np.arange(block)).reshape(DRAWS, -1)
    drawn: dict[Part, Floats] = {
        part: load.waits[part][picked].mean(axis=1) if part in load.waits else np.zeros(DRAWS)
        for part in PARTS
    }
    whole = np.maximum(sum(drawn.values(), start=np.zeros(DRAWS)), max(load.users, 1e-9))
    return {part: sessions / whole for part, sessions in drawn.items()}


def _means(values: Floats, random: np.random.Generator) -> Floats:
    """The mean of values, with its standard error."""
    error = values.std() / np.sqrt(values.size)
    return np.maximum(random.normal(values.mean(), error, DRAWS), values.min())
