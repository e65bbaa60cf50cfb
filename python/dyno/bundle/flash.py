"""What a cache on flash reports: names of its samples.

Samples of :data:`SOURCE` have a kind of files as subject (``table``, ``index`` …; :data:`ALL` for
all kinds that are cached) and a metric of :class:`Flash`. Rates cover the time since the previous
report of the daemon. What the page cache served is not counted: the daemon is not asked for it.
"""

from __future__ import annotations

from dyno.bundle.measured import Measured

SOURCE, ALL = "flash", "all"


class Flash(Measured):
    """Metrics of a cache. Blocks have 8 KiB; MB are 10^6 bytes.

    ``hit_ratio``: share of the blocks read that flash had. ``hit``, ``miss``: mean time of a read
    that flash served alone, and of one that the origin served at least in part. ``scanned``: blocks
    that were not cached because a long sequential read asked for them.
    """

    hit_ratio = "hit_ratio", "%", "blocks"
    blocks = "blocks", "1/s"
    hit = "hit", "ms", "hits"
    hits = "hits", "1/s"
    miss = "miss", "ms", "misses"
    misses = "misses", "1/s"
    scanned = "scanned", "1/s"
    written = "written", "MB/s"
