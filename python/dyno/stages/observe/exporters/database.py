"""postgres_exporter and mysqld_exporter: what a server counts, as ``dyno.bundle.inside`` names it.

Samples have the source ``database`` and the subject ``server``. Only what means the same as in
Dyno's own probes is taken.
"""

from __future__ import annotations

from typing import NamedTuple

from dyno.bundle.inside import SOURCE, Inside
from dyno.contracts.probe import Sample
from dyno.stages.observe.exporters.text import Labels, Scrape

SUBJECT = "server"


class _Part(NamedTuple):
    """A counter or level of an exporter, and the factor to the unit of Dyno's metric."""

    name: str
    labels: Labels = {}
    factor: float = 1.0


_RATES: dict[Inside, tuple[_Part, ...]] = {
    Inside.physical_reads: (
        _Part("pg_stat_database_blks_read"),
        _Part("mysql_global_status_innodb_buffer_pool_reads"),
    ),
    Inside.log_mbps: (_Part("mysql_global_status_innodb_os_log_written", factor=1e-6),),
    Inside.log_writes: (_Part("mysql_global_status_innodb_log_writes"),),
    Inside.log_flushes: (_Part("mysql_global_status_innodb_os_log_fsyncs"),),
    Inside.checkpoint_writes: (
        _Part("pg_stat_bgwriter_buffers_checkpoint"),
        _Part("pg_stat_bgwriter_buffers_checkpoint_total"),
        _Part("mysql_global_status_buffer_pool_page_changes_total", {"operation": "flushed"}),
    ),
    Inside.temp_written: (_Part("pg_stat_database_temp_bytes", factor=1e-6),),
    Inside.temp_files: (_Part("pg_stat_database_temp_files"),),
    Inside.lock_waits: (_Part("mysql_global_status_innodb_row_lock_waits"),),
    Inside.deadlocks: (
        _Part("pg_stat_database_deadlocks"),
        _Part("mysql_global_status_innodb_deadlocks"),
    ),
    Inside.commits: (
        _Part("pg_stat_database_xact_commit"),
        _Part("mysql_global_status_commands_total", {"command": "commit"}),
    ),
    Inside.rollbacks: (
        _Part("pg_stat_database_xact_rollback"),
        _Part("mysql_global_status_commands_total", {"command": "rollback"}),
    ),
}
_LEVELS: dict[Inside, tuple[_Part, ...]] = {
    Inside.connections: (
        _Part("pg_stat_database_numbackends"),
        _Part("mysql_global_status_threads_connected"),
    ),
    Inside.locks: (_Part("pg_locks_count"),),
    Inside.dead_rows: (_Part("pg_stat_user_tables_n_dead_tup"),),
}
_FOUND_IN_MEMORY = _Part("pg_stat_database_blks_hit")
_LOGICAL = _Part("mysql_global_status_innodb_buffer_pool_read_requests")


def samples(before: Scrape, after: Scrape, seconds: float) -> list[Sample]:
    """The samples between two scrapes. A counter that decreased was reset and is left out."""
    rates = {
        metric: _growth(before, after, part) / seconds
        for metric, parts in _RATES.items()
        for part in parts
        if after.sum(part.name, part.labels) is not None and _grew(before, after, part)
    }
    physical = rates.get(Inside.physical_reads)
    hits, logical = (_growth(before, after, one) / seconds for one in (_FOUND_IN_MEMORY, _LOGICAL))
    if physical is not None:
        every = rates[Inside.logical_reads] = logical or hits + physical
        if every > 0:
            rates[Inside.hit_ratio] = 100 * max(0.0, 1 - physical / every)
    levels = {
        metric: value * part.factor
        for metric, parts in _LEVELS.items()
        for part in parts
        if (value := after.sum(part.name, part.labels)) is not None
    }
    return [
        Sample(SOURCE, SUBJECT, metric, value, metric.unit)
        for metric, value in {**rates, **levels}.items()
    ]


def _grew(before: Scrape, after: Scrape, part: _Part) -> bool:
    last, now = before.sum(part.name, part.labels), after.sum(part.name, part.labels)
    return last is not None and now is not None and now >= last


def _growth(before: Scrape, after: Scrape, part: _Part) -> float:
    if not _grew(before, after, part):
        return 0.0
    last = before.sum(part.name, part.labels) or 0.0
    return ((after.sum(part.name, part.labels) or 0.0) - last) * part.factor
