"""What a wait event of PostgreSQL waits for, as one of the neutral classes.

The spelling of events differs between versions (``WALSync``, ``WalSync``), so case is ignored.
Unlisted types are ``other``: ``Extension``, ``Activity``, ``Timeout`` (``pg_sleep``, the delay of
a vacuum), ``InjectionPoint``.
"""

from __future__ import annotations

from dyno.bundle.inside import WaitClass

RUNNING = "cpu/running"
"""A session without a wait event runs, or waits for a CPU."""

_TYPES: dict[str, WaitClass] = {
    "lock": "lock",
    "lwlock": "latch",
    "bufferpin": "latch",  # a cursor of another session holds the page
    "ipc": "latch",  # another process: a parallel worker, the checkpointer
    "client": "client",
}
"""By ``wait_event_type``; ``_EVENTS`` and ``_PREFIXES`` take precedence."""

_EVENTS: dict[tuple[str, str], WaitClass] = {
    ("lock", "extend"): "latch",  # another session extends the file; no transaction holds this lock
    ("ipc", "bufferio"): "data",  # another session reads or writes the same page
    ("ipc", "syncrep"): "log",  # a commit waits for a standby
    ("lwlock", "aiouringcompletion"): "data",
    ("timeout", "spindelay"): "latch",
}

_PREFIXES: tuple[tuple[str, str, WaitClass], ...] = (
    ("io", "wal", "log"),
    ("lwlock", "wal", "log"),  # WALWrite: another session writes the log for both; WALInsert
    ("io", "buffile", "temp"),
    ("io", "datafile", "data"),
    ("io", "aio", "data"),  # asynchronous reads of data files
    ("io", "slru", "data"),  # the status of transactions
    ("io", "relationmap", "data"),
    ("io", "controlfile", "data"),
    ("io", "twophase", "data"),
)


def metric(kind: str | None, event: str | None) -> str:
    """The metric ``<class>/<type>:<event>`` of a wait event; ``cpu/running`` if there is none."""
    if kind is None or event is None:
        return RUNNING
    return f"{wait_class(kind, event)}/{kind}:{event}"


def wait_class(kind: str, event: str) -> WaitClass:
    """The class of a wait event of ``pg_stat_activity``."""
    kind, event = kind.lower(), event.lower()
    if (kind, event) in _EVENTS:
        return _EVENTS[kind, event]
    for of, prefix, found in _PREFIXES:
        if kind == of and event.startswith(prefix):
            return found
    return _TYPES.get(kind, "other")
