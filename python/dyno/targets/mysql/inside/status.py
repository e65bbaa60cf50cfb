"""Probe ``database``: the server's status counters, in the neutral terms of ``bundle/inside.py``.

Every version has other counters; a metric without its counter is absent. What the counters mean
here:

* ``physical_reads`` include read-ahead, which ``hit_ratio`` does not count as a miss.
* ``temp_files``: files of sorts and joins, and temporary tables on disk. Their bytes are not
  counted before MariaDB 11.5 (``temp_used``).
* ``commits``, ``rollbacks``: statements of that name; InnoDB does not count transactions that
  commit themselves.
* ``log_flushes``: MariaDB 10.8 and newer do not count them. ``log_write``, ``log_flush`` need a
  ``performance_schema`` that times the log's file: MySQL's does, MariaDB's not since 10.8.
* ``memory`` includes the whole buffer pool.

Absent is ``dead_rows``: InnoDB's history list counts transactions, not row versions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dyno.bundle.inside import SOURCE, Inside
from dyno.contracts.probe import Sample
from dyno.errors import DynoError
from dyno.targets.counters import Counters
from dyno.targets.mysql.connection import MysqlConnection
from dyno.targets.sessionprobe import Ask

_RATES: Mapping[Inside, tuple[str, ...]] = {
    Inside.logical_reads: ("innodb_buffer_pool_read_requests",),
    Inside.physical_reads: ("innodb_pages_read",),
    Inside.physical_writes: ("innodb_pages_written",),
    Inside.checkpoint_writes: ("innodb_buffer_pool_pages_flushed",),
    Inside.log_writes: ("innodb_log_writes",),
    Inside.log_flushes: ("innodb_os_log_fsyncs",),
    Inside.temp_files: ("created_tmp_files", "created_tmp_disk_tables"),
    Inside.lock_waits: ("innodb_row_lock_waits",),
    Inside.deadlocks: ("innodb_deadlocks",),
    Inside.commits: ("com_commit",),
    Inside.rollbacks: ("com_rollback",),
}
_BYTES: Mapping[Inside, str] = {
    Inside.read_mbps: "innodb_data_read",
    Inside.written_mbps: "innodb_data_written",
    Inside.log_mbps: "innodb_os_log_written",
}
_NOW: Mapping[Inside, str] = {
    Inside.connections: "threads_connected",
    Inside.memory: "memory_used",
    Inside.temp_used: "tmp_space_used",
}
_MISSES = "innodb_buffer_pool_reads"
_PAGE = "innodb_page_size"
_SINCE = "uptime_since_flush_status"
"""Decreases at a reset, even if no other counter does."""

_NAMES = sorted(
    {*(name for names in _RATES.values() for name in names), *_BYTES.values(), *_NOW.values()}
    | {_MISSES, _PAGE, _SINCE}
)
_LISTED = ", ".join(f"'{name}'" for name in _NAMES)
_STATUS = f"SHOW GLOBAL STATUS WHERE Variable_name IN ({_LISTED})"

_LOG_FILE = (
    "SELECT count_write, sum_timer_write, count_misc, sum_timer_misc "
    "FROM performance_schema.file_summary_by_event_name "
    "WHERE event_name = 'wait/io/file/innodb/innodb_log_file'"
)
_LOG_TIMES = {
    Inside.log_write: ("log_write_count", "log_write_ps"),
    Inside.log_flush: ("log_flush_count", "log_flush_ps"),
}
_PS_PER_MS = 1e9


def reader(target: str) -> Ask[MysqlConnection]:
    """A reader of the counters; rates cover the time since its previous reading.

    Args:
        target: The subject of its samples.
    """
    counters, times = Counters(), True
    known: MysqlConnection | None = None

    def read(session: MysqlConnection, now_ns: int) -> Sequence[Sample]:
        nonlocal counters, known, times
        if session is not known:  # the server may have restarted
            counters, known = Counters(), session
        shown = {
            str(name).lower(): float(value)
            for name, value in session.execute(_STATUS).rows
            if value
        }
        current = {name: shown.pop(name) for name in _NOW.values() if name in shown}
        page = shown.pop(_PAGE, None)
        if times:
            found = _log_times(session)
            times = bool(found)
            shown.update(found)
        seconds, grown = counters.growth(now_ns, shown)
        values = {one: current[name] for one, name in _NOW.items() if name in current}
        if grown:
            values.update(rates(seconds, grown))
        if page is not None and Inside.logical_reads in values:
            values[Inside.logical_mbps] = values[Inside.logical_reads] * page / 1e6
        return [Sample(SOURCE, target, one, value, one.unit) for one, value in values.items()]

    return read


def rates(seconds: float, grown: Mapping[str, float]) -> dict[Inside, float]:
    """Rates and means of a period, from the growth of the counters in it."""
    found = {
        one: sum(grown[name] for name in names) / seconds
        for one, names in _RATES.items()
        if all(name in grown for name in names)
    }
    found |= {one: grown[name] / 1e6 / seconds for one, name in _BYTES.items() if name in grown}
    asked, missed = grown.get(_RATES[Inside.logical_reads][0], 0.0), grown.get(_MISSES, 0.0)
    if asked > 0:
        found[Inside.hit_ratio] = 100 * max(0.0, 1 - missed / asked)
    for one, (count, time_ps) in _LOG_TIMES.items():
        if grown.get(count, 0.0) > 0:
            found[one] = grown[time_ps] / grown[count] / _PS_PER_MS
    return found


def _log_times(session: MysqlConnection) -> dict[str, float]:
    """Writes and syncs of the log's file with their times; empty if nothing counts them."""
    try:
        rows = session.execute(_LOG_FILE).rows
    except DynoError as error:
        if not error.is_refusal:
            raise
        return {}
    if not rows or not rows[0][0]:
        return {}
    names = [name for pair in _LOG_TIMES.values() for name in pair]
    return dict(zip(names, map(float, rows[0]), strict=True))
