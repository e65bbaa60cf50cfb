"""Probe ``sessions``: the active sessions by what they wait for, sampled ten times a second.

While the process list shows no wait, it is read twice a second (``targets/activesessions.py``).

A wait is an event of ``performance_schema`` if the server shows its current waits, else the
thread's state, which tells neither data files nor latches from CPU (``waits.py``). No event and no
state tells a wait for a row lock: the server counts these waits, and as many sessions that would
otherwise run are in ``lock``.

The list of processes is SHOW PROCESSLIST: the table of that name in ``information_schema`` makes a
temporary table on disk at every reading, which the counters would show.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from dyno.targets import activesessions
from dyno.targets.activesessions import Found, Wait
from dyno.targets.mysql.connection import MysqlConnection
from dyno.targets.mysql.inside.shown import Shown
from dyno.targets.mysql.inside.waits import ROW_LOCK, RUNNING, of_event, of_state
from dyno.targets.sessionprobe import Ask

PERIOD_S = activesessions.PERIOD_S
_REST = 4
"""Periods without a reading after one in which no session waited."""

_IDLE = ("Sleep", "Daemon", "Binlog Dump", "Binlog Dump GTID", "Connect", "Slave_IO", "Slave_SQL")
_LIST = "SHOW PROCESSLIST"
_COMMANDS = ", ".join(f"'{command}'" for command in _IDLE)
_THREADS = (
    "SELECT t.processlist_id, t.processlist_state, w.event_name "  # noqa: S608  (fixed names)
    "FROM performance_schema.threads t LEFT JOIN performance_schema.events_waits_current w "
    "ON w.thread_id = t.thread_id AND w.end_event_id IS NULL "
    f"WHERE t.type = 'FOREGROUND' AND t.processlist_command NOT IN ({_COMMANDS})"
)
_LOCKS = "SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_current_waits'"

Active = tuple[int, str, str]
"""Number of a session, its state, and its event, which may be empty."""


def reader(target: str) -> Ask[MysqlConnection]:
    """A reader that returns the means of every ten periods.

    Args:
        target: The subject of its samples.
    """
    shown: Shown | None = None

    def find(session: MysqlConnection) -> Found:
        nonlocal shown
        shown = shown or Shown.read(session)
        found = _waits(session, waits=shown.waits)
        return found, 0 if shown.waits or found.keys() - {RUNNING} else _REST

    return activesessions.reader(target, find)


def classified(active: Iterable[Active], row_locks: int) -> Counter[Wait]:
    """How many sessions wait for what.

    Args:
        active: The active sessions; one with nested events has several rows.
        row_locks: The number of sessions that wait for a row lock.
    """
    found: dict[int, Wait] = {}
    for number, state, event in active:
        known = of_event(event)
        if known is not None:
            found[number] = known
        else:
            found.setdefault(number, of_state(state))
    waits = Counter(found.values())
    locked = min(row_locks, waits[RUNNING])
    waits[ROW_LOCK] += locked
    waits[RUNNING] -= locked
    return +waits


def _waits(session: MysqlConnection, *, waits: bool) -> Counter[Wait]:
    own = session.number
    if waits:
        rows = session.execute(_THREADS).rows
        active = [(int(row[0]), str(row[1] or ""), str(row[2] or "")) for row in rows]
    else:
        listed = session.execute(_LIST).rows
        active = [(int(row[0]), str(row[6] or ""), "") for row in listed if row[4] not in _IDLE]
    active = [one for one in active if one[0] != own]
    locks = int(session.execute(_LOCKS).rows[0][1]) if active else 0
    return classified(active, locks)
