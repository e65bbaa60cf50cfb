"""Probe ``clerks``: the server's memory by consumer, as ``sys.dm_os_memory_clerks`` counts it."""

from __future__ import annotations

from collections.abc import Sequence

from dyno.bundle.inside import CLERKS
from dyno.contracts.probe import Sample, UnavailableError
from dyno.targets.sessionprobe import Ask
from dyno.targets.sqlserver.connection import Session
from dyno.targets.sqlserver.inside.views import OWN, Views

PERIOD_S = 10.0
MOST = 12
VIEW = "sys.dm_os_memory_clerks"
QUERY = (
    f"{OWN}SELECT TOP ({MOST}) type, SUM(pages_kb) AS kb FROM {VIEW} "  # noqa: S608  (fixed text)
    "GROUP BY type ORDER BY kb DESC"
)


def reader(target: str) -> Ask[Session]:
    """A reader of the largest consumers.

    Args:
        target: The subject of its samples.
    """
    views = Views()
    known: Session | None = None

    def read(session: Session, now_ns: int) -> Sequence[Sample]:  # noqa: ARG001
        nonlocal views, known
        if session is not known:
            views, known = Views(), session
        rows = views.rows(session, VIEW, QUERY)
        if rows is None:
            raise UnavailableError("; ".join(views.notes))
        return [Sample(CLERKS, target, str(kind), float(kb) * 1024, "B") for kind, kb in rows]

    return read
