"""Probe ``waits``: the waits that the server counts, by class (``waits.py``).

``sys.dm_os_wait_stats`` counts a wait when it ends, and the waits of each thread: a parallel query
has several. A wait's value is the mean number of threads in it: its time without the wait for a
CPU, of the time between two readings. Threads that are ready but have no CPU are ``cpu/runnable``.
A value is too high at the end of a wait that is longer than the time between two readings. Waits
of threads that have nothing to do are left out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from dyno.bundle.inside import WAITS, WaitClass
from dyno.contracts.probe import Sample, UnavailableError
from dyno.targets.sessionprobe import Ask
from dyno.targets.sqlserver.connection import Session
from dyno.targets.sqlserver.inside.deltas import Counts, growth
from dyno.targets.sqlserver.inside.views import OWN, Views
from dyno.targets.sqlserver.inside.waits import SCHEDULED, is_benign, of_wait

VIEW = "sys.dm_os_wait_stats"
QUERY = (
    f"{OWN}SELECT wait_type, waiting_tasks_count, wait_time_ms, signal_wait_time_ms "  # noqa: S608
    f"FROM {VIEW} WHERE waiting_tasks_count > 0"
)

Waits = Mapping[str, Counts]
"""By wait type: waits, their ms, and the ms of those after the end of the wait, without a CPU."""


def counted(rows: Sequence[Sequence[Any]]) -> dict[str, Counts]:
    """The counters in rows of :data:`QUERY`."""
    return {str(row[0]): (int(row[1]), int(row[2]), int(row[3])) for row in rows}


def by_class(grown: Waits, seconds: float) -> dict[tuple[WaitClass, str], float]:
    """The mean number of threads in each wait of a period; those with none are left out."""
    found: defaultdict[tuple[WaitClass, str], float] = defaultdict(float)
    for wait, (_, waited_ms, runnable_ms) in grown.items():
        if not is_benign(wait):
            found[of_wait(wait)] += (waited_ms - runnable_ms) / 1000 / seconds
            found[SCHEDULED] += runnable_ms / 1000 / seconds
    return {wait: threads for wait, threads in found.items() if threads > 0}


def reader(target: str) -> Ask[Session]:
    """A reader of the waits since its previous reading.

    Args:
        target: The subject of its samples.
    """
    views = Views()
    known: Session | None = None
    last: Waits = {}
    last_ns = 0

    def read(session: Session, now_ns: int) -> Sequence[Sample]:
        nonlocal views, known, last, last_ns
        first = session is not known
        if first:  # the server may have restarted
            views, known = Views(), session
        rows = views.rows(session, VIEW, QUERY)
        if rows is None:
            raise UnavailableError("; ".join(views.notes))
        now = counted(rows)
        grown = None if first else growth(last, now)
        seconds = (now_ns - last_ns) / 1e9
        last, last_ns = now, now_ns
        if grown is None or seconds <= 0:
            return ()
        means = by_class(grown, seconds) or {SCHEDULED: 0.0}
        return [
            Sample(WAITS, target, f"{known_as}/{event}", threads, "count")
            for (known_as, event), threads in means.items()
        ]

    return read
