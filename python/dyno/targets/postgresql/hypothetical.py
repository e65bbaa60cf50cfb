"""Hypothetical indexes in PostgreSQL, by the extension hypopg: in this session's memory only.

Statements are planned generically, without their values: PREPARE and EXPLAIN EXECUTE with
``plan_cache_mode = force_generic_plan`` (PostgreSQL documentation, PREPARE, Notes), which versions
before 16 have as well, unlike EXPLAIN (GENERIC_PLAN). Nothing is executed.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg import sql

from dyno.contracts.advice import IndexFacts
from dyno.contracts.hypothetical import Planned, Planner, Table, Wish
from dyno.errors import DynoError
from dyno.targets.postgresql import catalog
from dyno.targets.postgresql.connection import PostgresConnection
from dyno.targets.postgresql.inside import observer
from dyno.targets.postgresql.inside.observer import NAME, rows

EXTENSION = "hypopg"
_TIMEOUT_S = 10.0
_MOST = 2000
_NAME = "dyno_advice"

_INSTALLED = """SELECT current_database() AS database, current_user AS role,
current_setting('server_version_num')::int / 10000 AS major,
EXISTS (SELECT FROM pg_available_extensions WHERE name = 'hypopg') AS available,
(SELECT nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
    WHERE extname = 'hypopg') AS schema,
(SELECT has_schema_privilege(extnamespace, 'USAGE') FROM pg_extension
    WHERE extname = 'hypopg') AS may_use,
(SELECT bool_and(has_function_privilege(p.oid, 'EXECUTE')) FROM pg_extension e
    JOIN pg_proc p ON p.pronamespace = e.extnamespace
    WHERE extname = 'hypopg' AND proname = 'hypopg_create_index') AS may_run"""

_TABLES = f"""SELECT format('%I.%I', n.nspname, c.relname) AS name, n.nspname AS schema,
c.relname AS table, greatest(pg_stat_get_live_tuples(c.oid), c.reltuples)::bigint AS rows,
ARRAY(SELECT attname::text FROM pg_attribute a
    WHERE a.attrelid = c.oid AND attnum > 0 AND NOT attisdropped ORDER BY attnum) AS columns
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'm') AND NOT c.relispartition AND c.relpersistence <> 't'
AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg\\_%'
AND has_table_privilege(c.oid, 'SELECT')
ORDER BY c.relpages DESC, 1 LIMIT {_MOST}"""  # noqa: S608  (fixed text)


class HypopgPlanner:
    """Implements the protocol of :mod:`dyno.contracts.hypothetical` in one session."""

    how = f"PostgreSQL with the extension {EXTENSION}"
    dialect = "postgres"

    def __init__(self, session: PostgresConnection, schema: str) -> None:
        """Reads tables and indexes. ``schema`` is that of the extension."""
        self._session = session
        self._own = sql.Identifier(schema).as_string(session.raw)
        self.tables: Sequence[Table] = [
            Table(
                str(row["name"]),
                str(row["schema"]),
                str(row["table"]),
                tuple(row["columns"]),
                max(0, int(row["rows"])),
            )
            for row in rows(session, _TABLES)
        ]
        self.indexes: Sequence[IndexFacts] = catalog.indexes(session)
        self._by_name = {table.name: table for table in self.tables}
        self._made: dict[str, tuple[int, Wish]] = {}
        self._wishes: tuple[Wish, ...] = ()
        self._sizes: dict[Wish, int] = {}

    def plan(self, statement: str, tables: Iterable[Table], wishes: Sequence[Wish]) -> Planned:
        """The generic plan (see the protocol)."""
        self._wish(tuple(wishes))
        places = list(dict.fromkeys(table.schema for table in tables))
        path = ", ".join(sql.Identifier(one).as_string(self._session.raw) for one in places)
        self._run("SELECT set_config('search_path', %s, false)", [path])
        # One command each, so that a text with several is refused.
        self._run(f"PREPARE {_NAME} AS /* {NAME} */ {statement}")
        try:
            (given,) = self._run(
                "SELECT coalesce(cardinality(parameter_types), 0) FROM pg_prepared_statements "  # noqa: S608
                f"WHERE name = '{_NAME}'"
            )
            values = f"({', '.join(['NULL'] * given[0])})" if given[0] else ""
            (found,) = self._run(f"EXPLAIN (FORMAT JSON) EXECUTE {_NAME}{values}")
        finally:
            self._run(f"DEALLOCATE {_NAME}")
        tree = json.loads(found[0]) if isinstance(found[0], str) else found[0]
        plan: dict[str, Any] = tree[0]["Plan"]
        nodes = list(_nodes(plan))
        used = {
            self._made[name][1] for node in nodes if (name := node.get("Index Name")) in self._made
        }
        scanned = {
            one.name
            for node in nodes
            for one in self.tables
            if node.get("Node Type") == "Seq Scan" and node.get("Relation Name") == one.table
        }
        return Planned(float(plan["Total Cost"]), frozenset(used), frozenset(scanned))

    def size(self, wish: Wish) -> int | None:
        """The estimate of the extension."""
        return self._sizes.get(wish)

    def define(self, wish: Wish, name: str) -> str:
        """``CREATE INDEX CONCURRENTLY``, which lets the table be written."""
        return f"CREATE INDEX CONCURRENTLY {self._quoted(name)} {self._on(wish)};"

    def _on(self, wish: Wish) -> str:
        return f"ON {wish.table} ({', '.join(map(self._quoted, wish.columns))})"

    def _quoted(self, name: str) -> str:
        plain = name.isidentifier() and name.islower() and name.isascii()
        return name if plain else sql.Identifier(name).as_string(self._session.raw)

    def _wish(self, wishes: tuple[Wish, ...]) -> None:
        """Replaces the hypothetical indexes of the session."""
        if wishes == self._wishes:
            return
        self._wishes = ()
        self._made = {}
        self._run(f"SELECT {self._own}.hypopg_reset()")
        for wish in wishes:
            question = (
                f"SELECT indexrelid, indexname, {self._own}.hypopg_relation_size(indexrelid) "  # noqa: S608
                f"FROM {self._own}.hypopg_create_index(%s)"
            )
            ((number, name, size),) = self._run(question, [f"CREATE INDEX {self._on(wish)}"])
            self._made[str(name)] = (int(number), wish)
            self._sizes[wish] = int(size)
        self._wishes = wishes

    def _run(self, text: str, values: Sequence[Any] | None = None) -> list[Any]:
        try:
            with self._session.raw.cursor() as cursor:
                cursor.execute(text.encode(), values, prepare=True)
                return cursor.fetchall() if cursor.description is not None else []
        except psycopg.Error as error:
            raise self._session.error(error) from error


def _nodes(plan: dict[str, Any]) -> Generator[dict[str, Any]]:
    yield plan
    for below in plan.get("Plans", []):
        yield from _nodes(below)


@contextmanager
def planner(session: PostgresConnection) -> Generator[Planner | str]:
    """A planner in a session, which then reads only; else why there is none.

    Raises:
        DynoError: If the server does not respond.
    """
    observer.prepare(session, _TIMEOUT_S)
    obstacle, schema = _obstacle(session)
    if obstacle:
        yield obstacle
        return
    for name, value in (
        ("default_transaction_read_only", "on"),
        ("plan_cache_mode", "force_generic_plan"),
        ("max_parallel_workers_per_gather", None),
    ):
        if value is None:  # plans are those of other sessions
            _settle(session, f"RESET {name}")
        else:
            _settle(session, f"SET {name} = {value}")
    yield HypopgPlanner(session, schema)


def _settle(session: PostgresConnection, text: str) -> None:
    try:
        session.raw.execute(text.encode())
    except psycopg.Error as error:
        raise session.error(error) from error


def _obstacle(session: PostgresConnection) -> tuple[str, str]:
    """Why the extension cannot be used, with the remedy; or its schema."""
    try:
        (found,) = rows(session, _INSTALLED)
    except DynoError as error:
        return str(error).rstrip("."), ""
    role = sql.Identifier(str(found["role"])).as_string(session.raw)
    create = f"in the database {found['database']}: CREATE EXTENSION {EXTENSION};"
    if found["schema"] is None and not found["available"]:
        return (
            f"this installation of PostgreSQL has no extension {EXTENSION} (Debian: "
            f"postgresql-{found['major']}-{EXTENSION})"
        ), ""
    if found["schema"] is None:
        return f"an administrator must run {create}", ""
    schema = str(found["schema"])
    if not found["may_use"]:
        place = sql.Identifier(schema).as_string(session.raw)
        return f"an administrator must run: GRANT USAGE ON SCHEMA {place} TO {role};", ""
    if not found["may_run"]:
        place = sql.Identifier(schema).as_string(session.raw)
        return (
            f"an administrator must run: GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA {place} TO "
            f"{role};"
        ), ""
    return "", schema
