"""Class and name of what a session waits for. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from dyno.bundle.inside import WaitClass

RUNNING: tuple[WaitClass, str] = ("cpu", "running")
ROW_LOCK: tuple[WaitClass, str] = ("lock", "row lock")

# Source: MariaDB manual, "Thread States"; MySQL manual, "Examining Server Thread Information".
_STATES: Mapping[str, WaitClass] = {
    "commit": "log",
    "waiting for prior transaction to commit": "log",
    "waiting for handler commit": "log",
    "waiting for binlog": "log",
    "converting heap to": "temp",
    "copying to tmp table on disk": "temp",
    "removing tmp table": "temp",
    "waiting for table metadata lock": "lock",
    "waiting for table": "lock",
    "waiting for global read lock": "lock",
    "waiting for backup lock": "lock",
    "waiting for schema metadata lock": "lock",
    "waiting for stored": "lock",
    "waiting for trigger metadata lock": "lock",
    "waiting for event metadata lock": "lock",
    "user lock": "lock",
    "waiting for query cache lock": "latch",
    "waiting on cond": "latch",
    "writing to net": "client",
    "sending to client": "client",
    "reading from net": "client",
    "user sleep": "other",
    "waiting": "other",
}
"""By the beginning of a state; the first match counts. All other states run."""

# Source: performance_schema.setup_instruments of MariaDB 10.11, and the MySQL manual, "Performance
# Schema Instrument Naming Conventions".
_EVENTS: Mapping[str, WaitClass] = {
    "wait/io/file/innodb/innodb_log_file": "log",
    "wait/io/file/innodb/innodb_temp_file": "temp",
    "wait/io/file/innodb/": "data",
    "wait/io/file/sql/binlog": "log",
    "wait/io/file/sql/io_cache": "temp",
    "wait/io/file/sql/hash_join": "temp",
    "wait/io/file/aria/": "temp",
    "wait/io/file/temptable/": "temp",
    "wait/io/file/": "data",
    "wait/io/socket/": "client",
    "wait/lock/": "lock",
    "wait/synch/cond/sql/mdl": "lock",
    "wait/synch/cond/sql/mysql_bin_log": "log",
    "wait/synch/cond/sql/cond_wait_commit": "log",
    "wait/synch/": "latch",
}
"""By the beginning of an event's name; the first match counts. Access to a table, which all the
others are part of, and idleness are no waits.
"""

_LONGEST = 80


def of_state(state: str) -> tuple[WaitClass, str]:
    """Class and name of a thread's state."""
    for start, known in _STATES.items():
        if state.lower().startswith(start):
            return known, state[:_LONGEST]
    return RUNNING


def of_event(event: str) -> tuple[WaitClass, str] | None:
    """Class and name of a wait of ``performance_schema``; None if it is none."""
    for start, known in _EVENTS.items():
        if event.lower().startswith(start):
            return known, event.removeprefix("wait/")[:_LONGEST]
    return None
