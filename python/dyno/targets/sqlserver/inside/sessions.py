"""Probe ``sessions``: the active sessions by what they wait for, sampled ten times a second.

While no session waits, the list is read twice a second (``targets/activesessions.py``).

A request counts once, with its own wait. If it waits for the other threads of its parallel plan, it
counts with the most frequent wait of these, or as running if they run. A wait for a page is
``temp`` if the page is tempdb's. Sessions that sleep, even in a transaction, are not active.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from dyno.contracts.probe import UnavailableError
from dyno.targets import activesessions
from dyno.targets.activesessions import Found, Wait
from dyno.targets.sessionprobe import Ask
from dyno.targets.sqlserver.connection import Session
from dyno.targets.sqlserver.inside.views import OWN, Views, unseen
from dyno.targets.sqlserver.inside.waits import RUNNING, SCHEDULED, is_parallel, of_wait
from dyno.targets.sqlserver.login import OBSERVER

PERIOD_S = activesessions.PERIOD_S
_REST = 4
"""Periods without a reading after one in which no session waited."""

VIEW, TASKS_VIEW = "sys.dm_exec_requests", "sys.dm_os_waiting_tasks"
QUERY = f"""{OWN}SELECT r.session_id, r.status, r.wait_type, r.wait_resource
FROM {VIEW} AS r JOIN sys.dm_exec_sessions AS s ON s.session_id = r.session_id
WHERE s.is_user_process = 1 AND r.session_id <> @@SPID
AND COALESCE(s.program_name, N'') <> N'{OBSERVER}'"""  # noqa: S608  (fixed text)
TASKS = f"""{OWN}SELECT t.session_id, t.wait_type, t.resource_description
FROM {TASKS_VIEW} AS t WHERE t.session_id IN ({{sessions}})"""  # noqa: S608


class Request(NamedTuple):
    """An active request; the wait is empty while it runs."""

    session: int
    status: str
    wait: str
    resource: str


def read(rows: Sequence[Sequence[Any]]) -> list[Request]:
    """The requests in rows of :data:`QUERY` that are active."""
    found = [
        Request(int(row[0]), str(row[1] or "").lower(), str(row[2] or ""), str(row[3] or ""))
        for row in rows
    ]
    return [one for one in found if one.status not in ("background", "sleeping")]


def database_of(resource: str) -> int:
    """The database in the description of a page, as ``2:1:104``; 0 if it has none."""
    number = resource.partition(":")[0].strip()
    return int(number) if number.isdigit() and ":" in resource else 0


def waits_of(requests: Iterable[Request], tasks: Mapping[int, Sequence[Wait]]) -> Counter[Wait]:
    """How many sessions wait for what.

    Args:
        requests: The active requests.
        tasks: Waits of the threads of parallel requests, other than those for one another.
    """
    found: dict[int, Wait] = {}
    for one in requests:
        if not one.wait:
            found.setdefault(one.session, SCHEDULED if one.status == "runnable" else RUNNING)
        elif is_parallel(one.wait):
            own = Counter(tasks.get(one.session, ()))
            found[one.session] = own.most_common(1)[0][0] if own else RUNNING
        else:
            found[one.session] = of_wait(one.wait, database_of(one.resource))
    return Counter(found.values())


def reader(target: str) -> Ask[Session]:
    """A reader that returns the means of every ten periods.

    Args:
        target: The subject of its samples.
    """
    views = Views()
    known: Session | None = None

    def find(session: Session) -> Found:
        nonlocal views, known
        if session is not known:
            if denied := unseen(session):
                raise UnavailableError(denied)
            views, known = Views(), session
        rows = views.rows(session, VIEW, QUERY)
        if rows is None:
            raise UnavailableError("; ".join(views.notes))
        requests = read(rows)
        waits = waits_of(requests, _tasks(session, views, requests))
        return waits, 0 if waits.keys() - {RUNNING, SCHEDULED} else _REST

    return activesessions.reader(target, find)


def _tasks(
    session: Session, views: Views, requests: Iterable[Request]
) -> Mapping[int, Sequence[Wait]]:
    parallel = sorted({one.session for one in requests if is_parallel(one.wait)})
    if not parallel:
        return {}
    sql = TASKS.format(sessions=", ".join(map(str, parallel)))
    found: dict[int, list[Wait]] = {}
    for number, wait, resource in views.rows(session, TASKS_VIEW, sql) or ():
        if not is_parallel(str(wait)):
            database = database_of(str(resource or ""))
            found.setdefault(int(number), []).append(of_wait(str(wait), database))
    return found
