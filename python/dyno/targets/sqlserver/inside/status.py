"""Probe ``database``: counters, files and the log's waits, in the terms of ``bundle/inside.py``.

A view that cannot be read leaves its metrics absent; the inspector notes the reason.

* ``read_mbps``, ``written_mbps``: of data files; ``temp_written``: of tempdb's files.
* ``log_write``: mean time of a write to a log file. On Windows, these writes are durable when they
  end, so there are no syncs of the log; on Linux the server may sync its files.
* ``log_wait``: mean time that a commit waits for the log (WRITELOG), without its wait for a CPU.
* ``temp_used``: pages of tempdb in use, its version store included.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dyno.bundle.inside import SOURCE, Inside
from dyno.contracts.probe import Sample, UnavailableError
from dyno.targets.sessionprobe import Ask
from dyno.targets.sqlserver.connection import Session
from dyno.targets.sqlserver.inside import files, performance, waitstats
from dyno.targets.sqlserver.inside.deltas import Counts, growth
from dyno.targets.sqlserver.inside.views import OWN, Views

_COMMIT = "WRITELOG"
COMMITS = f"{waitstats.QUERY} AND wait_type = N'{_COMMIT}'"
TEMP_VIEW = "tempdb.sys.dm_db_file_space_usage"
TEMP = f"""{OWN}SELECT SUM(user_object_reserved_page_count + internal_object_reserved_page_count
+ version_store_reserved_page_count + mixed_extent_page_count) FROM {TEMP_VIEW}"""  # noqa: S608


class _Last:
    """The previous reading of a session."""

    def __init__(self) -> None:
        self.views = Views()
        self.at_ns = 0
        self.counters: Mapping[performance.Counter, Counts] | None = None
        self.commits: waitstats.Waits | None = None
        self.files: files.Snapshot | None = None


def reader(target: str) -> Ask[Session]:
    """A reader of the counters; rates cover the time since its previous reading.

    Args:
        target: The subject of its samples.
    """
    known: Session | None = None
    last = _Last()

    def read(session: Session, now_ns: int) -> Sequence[Sample]:
        nonlocal known, last
        if session is not known:  # the server may have restarted
            known, last = session, _Last()
        seconds, last.at_ns = (now_ns - last.at_ns) / 1e9, now_ns
        asked = {
            performance.VIEW: performance.QUERY,
            files.VIEW: files.QUERY,
            waitstats.VIEW: COMMITS,
            TEMP_VIEW: TEMP,
        }
        rows = {view: last.views.rows(session, view, sql) for view, sql in asked.items()}
        if all(found is None for found in rows.values()):
            raise UnavailableError("; ".join(last.views.notes))
        values = _counters(last, seconds, rows[performance.VIEW])
        values |= _files(last, seconds, rows[files.VIEW])
        values |= _commits(last, rows[waitstats.VIEW])
        if temp := rows[TEMP_VIEW]:
            values[Inside.temp_used] = float(int(temp[0][0] or 0) * performance.PAGE)
        return [Sample(SOURCE, target, one, value, one.unit) for one, value in values.items()]

    return read


def _counters(
    last: _Last, seconds: float, rows: Sequence[Sequence[Any]] | None
) -> dict[Inside, float]:
    if rows is None:
        return {}
    read = performance.counted(rows)
    before, last.counters = last.counters, performance.sums(read)
    grown = None if before is None else growth(before, last.counters)
    rates = {} if grown is None else performance.rates(seconds, grown)
    return {**performance.levels(read), **rates}


def _files(
    last: _Last, seconds: float, rows: Sequence[Sequence[Any]] | None
) -> dict[Inside, float]:
    if rows is None:
        return {}
    before, last.files = last.files, files.counted(rows)
    if before is None:
        return {}
    by_role = files.by_role(files.between(before, last.files))
    return of_roles(seconds, by_role)


def of_roles(seconds: float, by_role: Mapping[files.Role, files.Requests]) -> dict[Inside, float]:
    """Metrics of the files of a period."""
    found: dict[Inside, float] = {}
    if (data := by_role.get("data")) is not None:
        found[Inside.read_mbps] = data.bytes_read / 1e6 / seconds
        found[Inside.written_mbps] = data.bytes_written / 1e6 / seconds
    if (log := by_role.get("log")) is not None:
        found[Inside.log_writes] = log.writes / seconds
        if log.writes:
            found[Inside.log_write] = log.write_ms / log.writes
    if (temp := by_role.get("temp")) is not None:
        found[Inside.temp_written] = temp.bytes_written / 1e6 / seconds
    return found


def _commits(last: _Last, rows: Sequence[Sequence[Any]] | None) -> dict[Inside, float]:
    if rows is None:
        return {}
    before, last.commits = last.commits, waitstats.counted(rows)
    grown = None if before is None else growth(before, last.commits)
    waits, waited_ms, runnable_ms = (grown or {}).get(_COMMIT, (0, 0, 0))
    return {Inside.log_wait: (waited_ms - runnable_ms) / waits} if waits else {}
