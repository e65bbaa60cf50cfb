"""What a cache of a given size and policy would have held of a trace."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from dyno.runtime.engine_calls import watched

if TYPE_CHECKING:
    from dyno import _core
    from dyno.accelerate.trace import Trace
    from dyno.runtime.progress import Progress

OPTIMUM = "belady"
POLICIES = ("lru", "arc", "2q", "lirs", "s3-fifo", "flash", "w-tiny-lfu", OPTIMUM)
"""Names of the policies: `flash` is S3-FIFO by segments, the last knows the future."""

Writes = Literal["allocate", "update", "ignore"]

_SAMPLED_BLOCKS = 8192
"""Blocks of the sample for miss-ratio curves: less than 1 MiB."""


@dataclass(frozen=True)
class Simulated:
    """A cache after a trace.

    Attributes:
        policy: Its policy.
        blocks: Its size.
        reads: Reads by kind of file.
        hits: Those that it held; of the optimum, all are counted as kind 0.
    """

    policy: str
    blocks: int
    reads: tuple[int, ...]
    hits: tuple[int, ...]

    @property
    def hit_ratio(self) -> float:
        """Hits by reads, 0 to 1; NaN without reads."""
        reads = sum(self.reads)
        return sum(self.hits) / reads if reads else float("nan")


@dataclass(frozen=True)
class Curve:
    """Hit ratios of LRU by size.

    Attributes:
        blocks: Sizes, in blocks.
        hit_ratios: 0 to 1, one a size, within about 0.01.
        footprint: Different blocks of the trace.
    """

    blocks: tuple[int, ...]
    hit_ratios: tuple[float, ...]
    footprint: int


def simulate(
    trace: Trace,
    caches: Sequence[tuple[str, int]],
    writes: Writes,
    rate: float,
    progress: Progress,
) -> list[Simulated]:
    """Replays a trace over caches.

    Args:
        trace: The trace.
        caches: Policies and sizes in blocks.
        writes: What a write does: ``allocate`` keeps the block, ``update`` counts as an access if
            it is kept, ``ignore`` does nothing.
        rate: Share of the blocks that is replayed, in caches smaller by the same factor (SHARDS,
            Waldspurger et al., FAST 2015); 1 for all.
        progress: Receives accesses times caches.

    Raises:
        Interrupted: After Ctrl-C.
    """
    plan = {
        "caches": [{"policy": policy, "blocks": blocks} for policy, blocks in caches],
        "writes": writes,
        "rate": rate,
    }

    def work(control: _core.Control) -> str:
        from dyno import _core

        return _core.replay(trace.blocks, trace.kinds, json.dumps(plan), control)

    return [
        Simulated(one["policy"], one["blocks"], tuple(one["reads"]), tuple(one["hits"]))
        for one in json.loads(watched(work, progress))
    ]


def footprint(trace: Trace) -> int:
    """Different blocks of a trace."""
    return int(np.unique(trace.blocks).size)


def curve(trace: Trace, sizes: Sequence[int]) -> Curve:
    """The hit ratios of LRU caches from one pass over a sample of the blocks (SHARDS).

    All accesses count, those that write as well.

    Args:
        trace: The trace.
        sizes: In blocks.
    """
    from dyno import _core

    misses, found = _core.miss_ratios(trace.blocks, list(sizes), _SAMPLED_BLOCKS)
    return Curve(tuple(sizes), tuple(1 - one for one in misses), round(found))


def speed_up(hit_ratio: float, flash_ms: float, origin_ms: float) -> float:
    """How much faster reads are at most: the ratio of mean latencies without and with the cache.

    1 / ((1 - h) + h * flash / origin). Times of the database's own work make it less.
    """
    return 1 / ((1 - hit_ratio) + hit_ratio * flash_ms / origin_ms)
