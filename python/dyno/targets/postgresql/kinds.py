"""Kinds of files of PostgreSQL, for a cache in front: pattern, kind, what is done."""

from __future__ import annotations

KINDS = (
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
)
