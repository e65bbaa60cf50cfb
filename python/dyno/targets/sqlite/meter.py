"""Bytes read and spilled by a query: SQLite runs in the calling thread, and Linux counts its I/O.

Sorts may use helper threads, which also spill and read, and exit with the sort. Their I/O cannot be
separated from that of other sessions, so spilled bytes are unknown with helpers.
"""

from __future__ import annotations

import os
import re

from dyno.contracts.meter import Reading
from dyno.targets.sqlite.connection import SqliteConnection

_COUNTERS = "/proc/thread-self/io"
_NO_MEMORY = "Python cannot read SQLite's memory counters"
_HELPERS = "helper threads of a sort spill uncounted; --set parallelism=1 avoids them"
_READ = "rchar of the session's thread, before and after"


class SqliteMeter:
    """Implements the protocol. The thread that runs the queries calls it."""

    def __init__(self, session: SqliteConnection) -> None:
        self._session = session
        self._helpers: bool | None = None
        self._before: tuple[int, int] | None = None

    def before(self) -> None:
        """Reads the thread's counters."""
        if self._helpers is None:
            self._helpers = self._session.execute("PRAGMA threads").rows != [(0,)]
        self._before = _counters()

    def after(self) -> Reading:
        """Reads the counters again and returns the difference."""
        now, before = _counters(own=False), self._before
        if now is None or before is None:
            return Reading.missing(f"the kernel does not expose {_COUNTERS}")
        helped = "; excludes reads of sort helpers" if self._helpers else ""
        return Reading(
            bytes_read=max(0, now[0] - before[0]),
            temp_bytes=None if self._helpers else max(0, now[1] - before[1]),
            sources={
                "bytes_read": _READ + helped,
                "temp_bytes": _HELPERS if self._helpers else "wchar of the session's thread",
                "peak_memory_bytes": _NO_MEMORY,
            },
        )


def _counters(*, own: bool = True) -> tuple[int, int] | None:
    """Bytes that this thread has read and written; None if the kernel does not report them.

    ``own`` includes this reading, as the next one will.
    """
    try:
        descriptor = os.open(_COUNTERS, os.O_RDONLY | os.O_CLOEXEC)
        try:
            text = os.read(descriptor, 4096)
        finally:
            os.close(descriptor)
    except OSError:
        return None
    found = dict(re.findall(rb"^(\w+): (\d+)$", text, re.MULTILINE))
    if not {b"rchar", b"wchar"} <= set(found):
        return None
    return int(found[b"rchar"]) + (len(text) if own else 0), int(found[b"wchar"])
