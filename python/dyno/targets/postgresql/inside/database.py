"""The counters of a server as rates, once a second.

A session reports its counters when a transaction ends, at most once a second, and an idle session
after ten seconds. So the work of a long statement arrives at its end, and the rates of single
seconds vary more than the work; their mean over a phase is right. Temporary files count when they
are removed. Dyno's own sessions are included: about twelve commits a second.

Not reported: ``lock_waits`` and ``memory``, which PostgreSQL does not count. Before version 16, a
page that is added to a file counts as a physical read, and as a physical write of its session.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dyno.bundle.inside import SOURCE, Inside
from dyno.contracts.probe import Sample
from dyno.targets.counters import Counters
from dyno.targets.postgresql.connection import PostgresConnection
from dyno.targets.postgresql.inside import temp
from dyno.targets.postgresql.inside.counters import DEAD_ROWS, GROWING, RESETS, question
from dyno.targets.postgresql.inside.observer import rows

PERIOD_S, DEADLINE_S = 1.0, 5.0

_SLOW_NS = 10_000_000_000
"""Time between two readings of what takes long with many tables."""


class Database:
    """Compares each reading with the previous one, across sessions.

    Counters survive a restart after a clean shutdown. After a crash or a reset, one reading has no
    rates.
    """

    def __init__(self) -> None:
        self._session: PostgresConnection | None = None
        self._counters, self._resets = Counters(), ()
        self._temp = False
        self._slow_ns: int | None = None

    def __call__(self, session: PostgresConnection, now_ns: int) -> list[Sample]:
        """The current values, and the rates since the previous reading."""
        if session is not self._session:
            self._session, self._temp = session, temp.may_read(session)
        (row,) = rows(session, question(session.raw.info.server_version))
        values = {Inside.connections: row["connections"], Inside.locks: row["locks"]}
        values |= self._rates(row, now_ns)
        if self._temp:
            values[Inside.temp_used] = temp.used_bytes(session)
        if self._slow_ns is None or now_ns - self._slow_ns >= _SLOW_NS:
            self._slow_ns = now_ns
            values[Inside.dead_rows] = rows(session, DEAD_ROWS)[0]["dead_rows"]
        return [
            Sample(SOURCE, "postgresql", one.value, float(value), one.unit)
            for one, value in values.items()
        ]

    def _rates(self, row: Mapping[str, Any], now_ns: int) -> dict[Inside, float]:
        resets = tuple(row[name] for name in RESETS)
        if resets != self._resets:  # a counter may have passed its previous value since
            self._counters, self._resets = Counters(), resets
        seconds, grown = self._counters.growth(now_ns, {name: row[name] or 0.0 for name in GROWING})
        if not grown:
            return {}
        grown["logical_reads"] = grown["hits"] + grown["physical_reads"]
        grown["physical_writes"] = grown["written_bytes"] / row["page_bytes"]
        grown["read_bytes"] = grown["physical_reads"] * row["page_bytes"]
        grown["logical_bytes"] = grown["logical_reads"] * row["page_bytes"]
        rates = {one: grown[name] / by / seconds for one, name, by in _RATES}
        return rates | dict(_means(grown, timed=row["timed"]))


_RATES = (
    *(
        (one, one.value, 1.0)
        for one in (
            Inside.logical_reads,
            Inside.physical_reads,
            Inside.physical_writes,
            Inside.log_writes,
            Inside.log_flushes,
            Inside.checkpoint_writes,
            Inside.temp_files,
            Inside.deadlocks,
            Inside.commits,
            Inside.rollbacks,
        )
    ),
    (Inside.logical_mbps, "logical_bytes", 1e6),
    (Inside.read_mbps, "read_bytes", 1e6),
    (Inside.written_mbps, "written_bytes", 1e6),
    (Inside.log_mbps, "log_bytes", 1e6),
    (Inside.temp_written, "temp_bytes", 1e6),
)
"""Metric, counter, and what the counter is divided by."""


def _means(grown: Mapping[str, float], *, timed: bool) -> Iterator[tuple[Inside, float]]:
    """The means and shares of a period in which something was counted."""
    if grown["logical_reads"] > 0:
        yield Inside.hit_ratio, 100 * grown["hits"] / grown["logical_reads"]
    if grown["temp_files"] > 0:
        yield Inside.temp_file, grown["temp_bytes"] / grown["temp_files"]
    if timed and grown["log_writes"] > 0:
        yield Inside.log_write, grown["log_write_ms"] / grown["log_writes"]
    if timed and grown["log_flushes"] > 0:
        yield Inside.log_flush, grown["log_flush_ms"] / grown["log_flushes"]
