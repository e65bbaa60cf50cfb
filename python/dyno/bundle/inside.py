"""What a database reports about itself: names of its samples, in the same terms for every engine.

Samples of :data:`SOURCE` have the target's name as subject and a metric of :class:`Inside`. Rates
cover the time since the previous reading. A metric that an engine does not report is absent.

Samples of :data:`SESSIONS` also have the target's name as subject. Their metric is
``<class>/<event>``, with a class of :data:`WAIT_CLASSES` and the event in the engine's own words
(``cpu`` has the event ``running``). The value is the mean number of sessions that were active in
it since the previous reading: their sum is the average active sessions. An idle second has the one
sample ``cpu/running`` with value 0.

Samples of :data:`WAITS` are those that the server itself counts, also as ``<class>/<event>``: the
mean number of threads in a wait since the previous reading. A wait counts when it ends.

Samples of :data:`FILES` have ``<target>/<role>`` as subject, for all files of a role (``data``,
``log``, ``temp``), or ``<target>/<role>/<database>/<file>``, and a metric of :class:`Files`.

Samples of :data:`CLERKS` have the target's name as subject and a consumer of the server's memory
as metric, in its own words; their unit is B.
"""

from __future__ import annotations

from typing import Literal, get_args

from dyno.bundle.measured import Measured

SOURCE, SESSIONS, CLOCK = "database", "sessions", "clock"
WAITS, FILES, CLERKS = "waits", "files", "clerks"
REPORTED = frozenset({SOURCE, SESSIONS, WAITS, FILES, CLERKS})
"""Sources about the database itself, on whichever machine it runs."""
WAITING = frozenset({SESSIONS, WAITS})
"""Sources whose readings omit the events in which nothing waited."""

WaitClass = Literal["cpu", "data", "log", "temp", "lock", "latch", "client", "other"]
"""What an active session does.

``cpu``: runs, or waits for nothing that the engine reports. ``data``, ``log``, ``temp``: I/O on
data files, the log (commits included), temporary files. ``lock``: waits for another transaction.
``latch``: waits for another thread inside the engine. ``client``: sends to or waits for the client
within a statement. ``other``: any other wait.
"""
WAIT_CLASSES: tuple[WaitClass, ...] = get_args(WaitClass)


class Inside(Measured):
    """Metrics of a database. Pages are the engine's own; MB are 10^6 bytes.

    ``hit_ratio``: share of logical reads without a physical one. ``logical_mbps``: bytes of the
    logical reads; of a column store, of the columns read, uncompressed. ``physical_reads``: pages
    that the engine asked the operating system for. ``log_write``, ``log_flush``: mean time of a
    write to and of a sync of the log; ``log_wait``: of a commit's wait for both.
    ``checkpoint_writes``: pages that checkpoints or page cleaners wrote. ``temp_written``,
    ``temp_files``: temporary data written and files made; ``temp_file`` their mean size;
    ``temp_used`` what they occupy now. ``lock_waits``: waits for a lock that began; ``locks`` locks
    held or awaited now. ``dead_rows``: row versions not yet removed. ``connections``: all sessions,
    idle ones too. ``memory``: bytes of the engine's own accounting. ``batches``: statements or
    batches that clients sent. ``blocked``: sessions that another one blocks now. ``memory_waits``:
    queries that wait for work memory now. ``page_life``: how long a page stays in the cache without
    being used.
    """

    hit_ratio = "hit_ratio", "%", "logical_reads"
    logical_reads = "logical_reads", "1/s"
    logical_mbps = "logical_mbps", "MB/s"
    physical_reads = "physical_reads", "1/s"
    physical_writes = "physical_writes", "1/s"
    read_mbps = "read_mbps", "MB/s"
    written_mbps = "written_mbps", "MB/s"
    log_mbps = "log_mbps", "MB/s"
    log_writes = "log_writes", "1/s"
    log_flushes = "log_flushes", "1/s"
    log_write = "log_write", "ms", "log_writes"
    log_flush = "log_flush", "ms", "log_flushes"
    log_wait = "log_wait", "ms", "log_flushes"
    checkpoint_writes = "checkpoint_writes", "1/s"
    temp_written = "temp_written", "MB/s"
    temp_files = "temp_files", "1/s"
    temp_file = "temp_file", "B", "temp_files"
    temp_used = "temp_used", "B"
    lock_waits = "lock_waits", "1/s"
    locks = "locks", "count"
    deadlocks = "deadlocks", "1/s"
    dead_rows = "dead_rows", "count"
    connections = "connections", "count"
    commits = "commits", "1/s"
    rollbacks = "rollbacks", "1/s"
    memory = "memory", "B"
    batches = "batches", "1/s"
    blocked = "blocked", "count"
    memory_waits = "memory_waits", "count"
    page_life = "page_life", "s"


class Files(Measured):
    """Metrics of a database's files, as the server counts them. MB are 10^6 bytes.

    ``read``, ``write``: mean time of a request as the server waits for it, with its queueing.
    ``size``: bytes on storage.
    """

    reads = "reads", "1/s"
    writes = "writes", "1/s"
    read_mbps = "read_mbps", "MB/s"
    written_mbps = "written_mbps", "MB/s"
    read = "read", "ms", "reads"
    write = "write", "ms", "writes"
    size = "size", "B"
