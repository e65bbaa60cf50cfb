"""Kinds of files of databases, and what a cache does for each."""

from __future__ import annotations

from dyno.accelerate.attach.folder import Rule

_MIB = 1 << 20
_ALL = 1 << 62

SCAN_BYTES = {"dss": _ALL, "mixed": 64 * _MIB, "oltp": 8 * _MIB}
"""By kind of work: a sequential read of more bytes does not fill the cache."""

_KINDS = (
    # PostgreSQL
    ("{**/,}pg_wal/**", "log", "pass"),
    ("{**/,}pgsql_tmp/**", "temporary", "pass"),
    ("{**/,}pgsql_tmp*", "temporary", "pass"),
    ("{**/,}base/*/t[0-9]*_[0-9]*", "temporary", "pass"),
    ("{**/,}{pg_stat_tmp,pg_replslot,pg_logical,pg_notify,pg_snapshots}/**", "state", "pass"),
    ("{**/,}{postmaster.pid,postmaster.opts,current_logfiles}", "state", "pass"),
    ("{**/,}global/*", "catalog", "cache"),
    ("{**/,}{base,PG_*}/*/*_{fsm,vm}", "map", "cache"),
    ("{**/,}base/*/*", "table", "cache"),
    ("{**/,}PG_*/*/*", "table", "cache"),
    # MariaDB
    ("{**/,}{ib_logfile*,ib_buffer_pool,#innodb_redo/**,aria_log*,*-bin.*}", "log", "pass"),
    ("{**/,}{ibtmp*,#sql-temptable*,#innodb_temp/**}", "temporary", "pass"),
    ("{**/,}undo*", "undo", "cache"),
    ("{**/,}{ibdata*,*.ibd,*.MAD,*.MAI,*.MYD,*.MYI}", "table", "cache"),
    # SQLite and DuckDB
    ("{**/,}*{-wal,-journal,.wal}", "log", "pass"),
    ("{**/,}*-shm", "state", "pass"),
    ("{**/,}*.tmp/**", "temporary", "pass"),
    ("{**/,}*.{db,sqlite,sqlite3,duckdb}", "table", "cache"),
)


def rules() -> tuple[Rule, ...]:
    """The rules for the databases that Dyno knows; the first that matches a file counts."""
    return tuple(
        Rule.model_validate({"glob": glob, "kind": kind, "action": action})
        for glob, kind, action in _KINDS
    )
