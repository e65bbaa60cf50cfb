"""What advice reads of a live PostgreSQL: settings, tables, indexes, counters. Changes nothing."""

from __future__ import annotations

from dataclasses import replace

from psycopg import sql

from dyno.contracts.advice import Catalog, ColumnFacts, Counter, IndexFacts, Part, TableFacts, Term
from dyno.contracts.inspection import MOST_ROWS, Inspection
from dyno.errors import DynoError
from dyno.targets.postgresql import columns, whereabouts
from dyno.targets.postgresql.connection import PostgresConnection
from dyno.targets.postgresql.inside import notes, observer, relations
from dyno.targets.postgresql.inside.observer import rows
from dyno.targets.postgresql.inside.statements import Statements

_TIMEOUT_S = 10.0
_GUARDED = "shared_preload_libraries"
"""Shown to members of :data:`whereabouts.RIGHT` only."""
_MOST = 5000

_AVAILABLE = """SELECT EXISTS (
    SELECT FROM pg_available_extensions WHERE name = 'pg_stat_statements') AS available"""
_SETTINGS = "SELECT lower(name) AS name, current_setting(name) AS value FROM pg_settings"
_OWN = "n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg\\_%'"

# The sizes are of the catalog, in pages: asking for exact ones would lock each relation.
_TABLES = f"""SELECT format('%I.%I', n.nspname, c.relname) AS name,
c.relpages::bigint * current_setting('block_size')::bigint AS bytes,
greatest(pg_stat_get_live_tuples(c.oid), c.reltuples)::bigint AS rows,
pg_stat_get_dead_tuples(c.oid) AS dead,
CASE WHEN pg_stat_get_last_analyze_time(c.oid) IS NOT NULL
    OR pg_stat_get_last_autoanalyze_time(c.oid) IS NOT NULL
    OR EXISTS (SELECT FROM pg_stats s WHERE s.schemaname = n.nspname AND s.tablename = c.relname)
    THEN true WHEN has_table_privilege(c.oid, 'SELECT') THEN false END AS analysed,
c.relpersistence <> 'u' AS logged,
CASE WHEN c.relispartition THEN (SELECT format('%I.%I', rn.nspname, r.relname) FROM pg_class r
    JOIN pg_namespace rn ON rn.oid = r.relnamespace
    WHERE r.oid = pg_partition_root(c.oid)) END AS root
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'm') AND c.relpersistence <> 't' AND {_OWN}
ORDER BY c.relpages DESC, 1 LIMIT {_MOST}"""  # noqa: S608  (fixed text)

_INDEXES = f"""SELECT format('%I.%I', n.nspname, c.relname) AS name,
format('%I.%I', tn.nspname, t.relname) AS of_table,
ARRAY(SELECT pg_get_indexdef(i.indexrelid, k, true) FROM generate_series(1, i.indnkeyatts) k)
    || coalesce(ARRAY['WHERE ' || pg_get_expr(i.indpred, i.indrelid)], ARRAY[]::text[])
    || CASE WHEN a.amname = 'btree' THEN ARRAY[]::text[] ELSE ARRAY['USING ' || a.amname] END
    AS columns,
i.indpred IS NOT NULL AS partial,
i.indisunique OR i.indisprimary OR i.indisexclusion OR i.indisreplident OR EXISTS (
    SELECT FROM pg_constraint o WHERE o.conindid = i.indexrelid) AS needed,
c.relpages::bigint * current_setting('block_size')::bigint AS bytes,
pg_stat_get_numscans(i.indexrelid) AS scans
FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_class t ON t.oid = i.indrelid JOIN pg_namespace tn ON tn.oid = t.relnamespace
JOIN pg_am a ON a.oid = c.relam
WHERE c.relkind = 'i' AND NOT c.relispartition AND i.indisvalid AND {_OWN}
ORDER BY c.relpages DESC, 1 LIMIT {_MOST}"""  # noqa: S608  (fixed text)

# The counters of a database have no time of their own until they are reset for the first time.
_SINCE = """SELECT extract(epoch FROM clock_timestamp()
    - coalesce(d.stats_reset, w.stats_reset))::float8 AS counted_s,
extract(epoch FROM clock_timestamp() - w.stats_reset)::float8 AS log_s,
d.temp_bytes::float8 AS temp_bytes, w.wal_bytes::float8 AS log_bytes
FROM pg_stat_database d, pg_stat_wal w WHERE d.datname = current_database()"""
_CHECKPOINTS = {
    True: "SELECT num_timed::float8 AS timed, num_requested::float8 AS forced "
    "FROM pg_stat_checkpointer",
    False: "SELECT checkpoints_timed::float8 AS timed, checkpoints_req::float8 AS forced "
    "FROM pg_stat_bgwriter",
}
_DATABASES = """SELECT sum(CASE WHEN seen THEN pg_database_size(oid) END)::float8 AS bytes,
count(*) FILTER (WHERE NOT seen) AS hidden FROM (
    SELECT oid, has_database_privilege(oid, 'CONNECT')
        OR pg_has_role('pg_read_all_stats', 'USAGE') AS seen
    FROM pg_database WHERE datallowconn) d"""


def read(session: PostgresConnection) -> Catalog:
    """Reads the catalog, within ten seconds a question.

    Raises:
        DynoError: If the server does not respond.
    """
    # Before the limits of this session, which would show as settings of the server.
    settings = {str(row["name"]): str(row["value"]) for row in rows(session, _SETTINGS)}
    observer.prepare(session, _TIMEOUT_S)
    found = Catalog(settings, _tables(session), indexes(session))
    uses, obstacle = _uses(session)
    counters, obstacles = _counters(session, settings)
    if obstacle:
        obstacles["uses"] = obstacle
    missing = bool(obstacle) and rows(session, _AVAILABLE)[0]["available"] is False
    impossible: dict[Term, str] = {"statement_counts": obstacle} if missing else {}
    hidden = {} if _GUARDED in settings else {_GUARDED: _guarded(session)}
    return replace(
        found,
        uses=uses,
        counters=counters,
        obstacles=obstacles,
        hidden=hidden,
        impossible=impossible,
    )


def _tables(session: PostgresConnection) -> list[TableFacts]:
    known, keys, references = _details(session)
    return [
        TableFacts(
            str(row["name"]),
            int(row["bytes"]),
            max(0, int(row["rows"])),
            int(row["dead"]),
            row["analysed"],
            bool(row["logged"]),
            str(row["root"] or ""),
            known.get(row["name"], ()),
            keys.get(row["name"], columns.Keys()).columns,
            keys.get(row["name"], columns.Keys()).primary,
            references.get(row["name"], ()),
        )
        for row in rows(session, _TABLES)
    ]


def _details(
    session: PostgresConnection,
) -> tuple[dict[str, tuple[ColumnFacts, ...]], dict[str, columns.Keys], dict[str, tuple[str, ...]]]:
    """Columns, keys and references; empty if the statistics of many tables take too long."""
    try:
        return columns.read(session), columns.keys(session), columns.references(session)
    except DynoError as error:
        if error.kind != "timeout":
            raise
        return {}, {}, {}


def indexes(session: PostgresConnection) -> list[IndexFacts]:
    """The indexes of the connected database.

    Raises:
        DynoError: If the server does not respond.
    """
    return [
        IndexFacts(
            str(row["name"]),
            str(row["of_table"]),
            tuple(str(column) for column in row["columns"]),
            bool(row["needed"]),
            int(row["bytes"]),
            int(row["scans"]),
        )
        for row in rows(session, _INDEXES)
    ]


def _uses(session: PostgresConnection) -> tuple[Inspection, str]:
    """Statements and relations since the counters began; and why statements are missing."""
    now = Statements.read(session)
    statements = now.since(Statements(schema=now.schema), session) if now.schema else []
    read = relations.since({}, relations.read(session), session)
    unseen = [one for one in notes.read(session) if "statements" in one]
    return Inspection(statements[:MOST_ROWS], read, [*now.notes, *unseen]), "; ".join(now.notes)


def _counters(
    session: PostgresConnection, settings: dict[str, str]
) -> tuple[dict[Counter, float], dict[Part | Counter, str]]:
    obstacles: dict[Part | Counter, str] = {}
    (since,) = rows(session, _SINCE)
    # The counters of the log may have been reset apart from the others.
    scale = since["counted_s"] / since["log_s"] if since["log_s"] else 1.0
    (checkpoints,) = rows(session, _CHECKPOINTS[session.raw.info.server_version >= 170000])
    found: dict[Counter, float] = {
        "counted_s": since["counted_s"],
        "temp_bytes": since["temp_bytes"],
        "log_bytes": since["log_bytes"] * scale,
        "checkpoints_timed": checkpoints["timed"],
        "checkpoints_forced": checkpoints["forced"],
    }
    try:
        (sizes,) = rows(session, _DATABASES)
    except DynoError as error:  # counting the files of many databases takes too long
        obstacles["databases_bytes"] = str(error).rstrip(".")
    else:
        if sizes["hidden"]:
            obstacles["databases_bytes"] = _hidden(session, sizes["hidden"])
        else:
            found["databases_bytes"] = sizes["bytes"]
    status = settings.get("huge_pages_status")
    if status in {"on", "off"}:
        found["huge_pages_used"] = float(status == "on")
    return found, obstacles


def _hidden(session: PostgresConnection, databases: int) -> str:
    return (
        f"this role may not see the size of {databases} databases; an administrator must run: "
        f"GRANT {notes.RIGHT} TO {_role(session)};"
    )


def _guarded(session: PostgresConnection) -> str:
    return (
        f"this role may not see {_GUARDED}; an administrator must run: "
        f"GRANT {whereabouts.RIGHT} TO {_role(session)};"
    )


def _role(session: PostgresConnection) -> str:
    role = str(session.execute("SELECT current_user").rows[0][0])
    return sql.Identifier(role).as_string(session.raw)
