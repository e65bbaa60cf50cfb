"""The work memory of the build of an index, as SQL Server reports it while the build runs.

It reports the peak of the statement so far, so that samples miss only a peak after the last one.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Generator

from dyno.contracts.target import Connection
from dyno.errors import DynoError
from dyno.targets.sqlserver.connection import Session
from dyno.workspace.footprint import Probe

USED = (
    "SELECT COALESCE(SUM(CAST(max_used_memory_kb AS bigint)), 0) * 1024 "
    "FROM sys.dm_exec_query_memory_grants WHERE session_id = {}"
)


@contextlib.contextmanager
def probing(connect: Callable[[], Connection], session: Session) -> Generator[Probe | None]:
    """A probe of the work memory of the statement that ``session`` runs, in bytes.

    Its own session reads the memory grants, which needs VIEW SERVER STATE. Yields None if this user
    or this server cannot read them, so the build continues unmeasured.

    Args:
        connect: Opens a session.
        session: The session that builds.
    """
    query = USED.format(int(session.number))
    try:
        observer = connect()
    except DynoError:
        yield None
        return
    last, lock = 0, threading.Lock()

    def used() -> int:
        nonlocal last
        # The build continues without a sample, which keeps the last one.
        with lock, contextlib.suppress(DynoError):
            last = int(observer.execute(query).rows[0][0])
        return last

    try:
        try:
            last = int(observer.execute(query).rows[0][0])
        except DynoError:
            yield None
            return
        yield used
    finally:
        observer.close()
