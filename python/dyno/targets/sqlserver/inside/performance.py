"""The server's performance counters, in the neutral terms of ``bundle/inside.py``.

Source: Microsoft, "sys.dm_os_performance_counters (Transact-SQL)" and the pages of its objects.
Counters "per second" are sums; the others are of the moment.

* ``hit_ratio``: over the last few thousand page accesses, as the server keeps it.
* ``physical_reads`` include read-ahead, which ``hit_ratio`` does not count as a miss.
* ``checkpoint_writes``: pages of checkpoints, and those of indirect checkpoints in the background.
* ``temp_files``: work files of hashes, and work tables of spools and cursors. Most are in memory.
* ``commits``: committed transactions that wrote, without tempdb's. The server does not count
  rollbacks, nor commits of transactions that only read.
* ``log_mbps``, ``log_flushes``: without tempdb's log, as ``log_writes`` of the files.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dyno.bundle.inside import Inside
from dyno.targets.sqlserver.inside.views import OWN

VIEW = "sys.dm_os_performance_counters"
PAGE = 8192
"""Bytes of a page, in every SQL Server."""

Counter = tuple[str, str, str]
"""Object without the name of the server's instance, counter, and instance; in lower case."""

_BUFFER, _DATABASES, _TEMPDB = "buffer manager", "databases", "tempdb"
_ALL = "_total"
_LOOKUPS: Counter = (_BUFFER, "page lookups/sec", "")
_WRITES: Counter = (_DATABASES, "write transactions/sec", _ALL)
_HITS: Counter = (_BUFFER, "buffer cache hit ratio", "")
_HITS_OF: Counter = (_BUFFER, "buffer cache hit ratio base", "")
_FLUSHES: Counter = (_DATABASES, "log flushes/sec", _ALL)
_LOG_BYTES: Counter = (_DATABASES, "log bytes flushed/sec", _ALL)
_BACKGROUND: Counter = (_BUFFER, "background writer pages/sec", "")

_RATES: Mapping[Inside, Counter] = {
    Inside.logical_reads: _LOOKUPS,
    Inside.physical_reads: (_BUFFER, "page reads/sec", ""),
    Inside.physical_writes: (_BUFFER, "page writes/sec", ""),
    Inside.checkpoint_writes: (_BUFFER, "checkpoint pages/sec", ""),
    Inside.lock_waits: ("locks", "lock waits/sec", _ALL),
    Inside.deadlocks: ("locks", "number of deadlocks/sec", _ALL),
    Inside.batches: ("sql statistics", "batch requests/sec", ""),
}
_WITHOUT_TEMPDB: Mapping[Inside, Counter] = {
    Inside.commits: _WRITES,
    Inside.log_flushes: _FLUSHES,
    Inside.log_mbps: _LOG_BYTES,
}
"""The counter of all databases has tempdb's share, too."""
_OF_TEMPDB: Mapping[Counter, Counter] = {
    counter: (counter[0], counter[1], _TEMPDB) for counter in _WITHOUT_TEMPDB.values()
}
_TEMP_FILES: tuple[Counter, ...] = (
    ("access methods", "workfiles created/sec", ""),
    ("access methods", "worktables created/sec", ""),
)
_NOW: Mapping[Inside, tuple[Counter, int]] = {
    Inside.connections: (("general statistics", "user connections", ""), 1),
    Inside.blocked: (("general statistics", "processes blocked", ""), 1),
    Inside.memory_waits: (("memory manager", "memory grants pending", ""), 1),
    Inside.memory: (("memory manager", "total server memory (kb)", ""), 1024),
    Inside.page_life: ((_BUFFER, "page life expectancy", ""), 1),
}
"""With the factor to the metric's unit."""

_SUMS = {
    *(*_RATES.values(), *_TEMP_FILES, _BACKGROUND),
    *(*_WITHOUT_TEMPDB.values(), *_OF_TEMPDB.values()),
}
_LEVELS = {_HITS, _HITS_OF, *(counter for counter, _ in _NOW.values())}
_LISTED = ", ".join(f"N'{name}'" for name in sorted({one[1] for one in _SUMS | _LEVELS}))
QUERY = f"""{OWN}SELECT RTRIM(object_name), RTRIM(counter_name), RTRIM(instance_name), cntr_value
FROM {VIEW} WHERE LOWER(counter_name) IN ({_LISTED})
AND instance_name IN (N'', N'_Total', N'tempdb')"""  # noqa: S608  (fixed names)


def counted(rows: Sequence[Sequence[Any]]) -> dict[Counter, int]:
    """The counters in rows of :data:`QUERY`. A named instance of the server has its own prefix."""
    return {
        (
            str(of).lower().rpartition(":")[2].strip(),
            str(name).lower().strip(),
            str(instance).lower().strip(),
        ): int(value)
        for of, name, instance, value in rows
    }


def sums(read: Mapping[Counter, int]) -> dict[Counter, tuple[int]]:
    """Those that only grow, until the server restarts."""
    return {one: (value,) for one, value in read.items() if one in _SUMS}


def levels(read: Mapping[Counter, int]) -> dict[Inside, float]:
    """Metrics of the moment."""
    found = {
        metric: float(read[counter] * factor)
        for metric, (counter, factor) in _NOW.items()
        if counter in read
    }
    if read.get(_HITS_OF, 0) > 0 and _HITS in read:
        found[Inside.hit_ratio] = min(100.0, 100 * read[_HITS] / read[_HITS_OF])
    return found


def rates(seconds: float, grown: Mapping[Counter, tuple[int, ...]]) -> dict[Inside, float]:
    """Rates of a period, from the growth of the counters in it."""
    by = {counter: counts[0] for counter, counts in grown.items()}
    found = {metric: by[counter] / seconds for metric, counter in _RATES.items() if counter in by}
    if Inside.checkpoint_writes in found:
        found[Inside.checkpoint_writes] += by.get(_BACKGROUND, 0) / seconds
    for metric, counter in _WITHOUT_TEMPDB.items():
        if counter in by:
            own = max(0, by[counter] - by.get(_OF_TEMPDB[counter], 0))
            found[metric] = own / (1e6 if metric is Inside.log_mbps else 1) / seconds
    if all(counter in by for counter in _TEMP_FILES):
        found[Inside.temp_files] = sum(by[counter] for counter in _TEMP_FILES) / seconds
    if _LOOKUPS in by:
        found[Inside.logical_mbps] = by[_LOOKUPS] * PAGE / 1e6 / seconds
    return found
