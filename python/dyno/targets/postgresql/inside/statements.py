"""Statements of the connected database, from the extension ``pg_stat_statements``.

Dyno compares two readings and never resets the extension, whose counters belong to the server's
users. ``min_ms`` and ``max_ms`` are exact for a statement that the first reading lacked or that ran
once in between; else they cover all executions since the counters of the statement began.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from psycopg import sql

from dyno.contracts.inspection import MOST_ROWS, StatementUse
from dyno.targets.postgresql.connection import PostgresConnection
from dyno.targets.postgresql.inside.observer import NAME, rows
from dyno.targets.postgresql.inside.snapshot import Row, grown, most

EXTENSION = "pg_stat_statements"
_OLDEST = (1, 8)
MOST_TEXT = 10_000
"""Characters of a text that are read."""

_COUNTERS = ("calls", "total_ms", "rows", "hits", "reads", "temp_blocks")
_QUESTION = """SELECT queryid, userid::bigint AS role, {toplevel} AS toplevel, calls,
total_exec_time AS total_ms, min_exec_time AS min_ms, max_exec_time AS max_ms, rows,
shared_blks_hit + local_blks_hit AS hits, shared_blks_read + local_blks_read AS reads,
(SELECT rolname = current_user OR rolsuper FROM pg_roles WHERE oid = userid) AS trusted,
temp_blks_written AS temp_blocks, current_setting('block_size')::int AS page_bytes
FROM {schema}.pg_stat_statements(false)
WHERE queryid IS NOT NULL
AND dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
"""
_TEXTS = """SELECT queryid, left(max(query), %(most)s) AS text
FROM {schema}.pg_stat_statements(true)
WHERE queryid = ANY(%(ids)s)
AND dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
GROUP BY queryid"""
_EVICTED = "SELECT dealloc AS evicted FROM {schema}.pg_stat_statements_info"

_INSTALLED = """SELECT current_database() AS database, current_user AS role,
current_setting('pg_stat_statements.max', true) AS most,
(SELECT string_agg(setting, '') FROM pg_settings
    WHERE name = 'shared_preload_libraries') AS preload,
EXISTS (SELECT FROM pg_available_extensions WHERE name = 'pg_stat_statements') AS available,
(SELECT nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
    WHERE extname = 'pg_stat_statements') AS schema,
(SELECT has_schema_privilege(extnamespace, 'USAGE') FROM pg_extension
    WHERE extname = 'pg_stat_statements') AS may_use,
(SELECT extversion FROM pg_extension WHERE extname = 'pg_stat_statements') AS version"""

_WITHOUT = "statements are not recorded: "


@dataclass(frozen=True)
class Statements:
    """The counters of all statements at one time.

    Attributes:
        rows: By role, statement and whether it ran at the top level; empty if there is no
            extension.
        notes: Why something is missing, and the remedy.
        schema: The schema of the extension.
        evicted: How often it has removed its least used statements.
        most: The number of statements that it keeps.
    """

    rows: Mapping[Any, Row] = field(default_factory=dict[Any, Row])
    notes: tuple[str, ...] = ()
    schema: str = ""
    evicted: int = 0
    most: str = ""

    @classmethod
    def read(cls, session: PostgresConnection) -> Statements:
        """Reads the counters; statements of other roles need ``pg_read_all_stats``.

        Raises:
            DynoError: If the server does not respond.
        """
        (found,) = rows(session, _INSTALLED)
        obstacle = _obstacle(found, session)
        if obstacle:
            return cls(notes=(_WITHOUT + obstacle,))
        version = _numbers(found["version"])
        names = {"schema": _quoted(found["schema"], session)}
        names["toplevel"] = "toplevel" if version >= (1, 9) else "true"
        read = rows(session, _QUESTION.format(**names))
        evicted = rows(session, _EVICTED.format(**names))[0]["evicted"] if version >= (1, 9) else 0
        by_key = {(row["role"], row["queryid"], row["toplevel"]): row for row in read}
        return cls(by_key, (), names["schema"], evicted, found["most"])

    def since(self, before: Statements, session: PostgresConnection) -> list[StatementUse]:
        """What was counted since ``before``; Dyno's own readings are left out.

        Raises:
            DynoError: If the server does not respond.
        """
        if not before.schema:  # the counters may be older than the period
            return []
        uses: dict[Any, dict[str, Any]] = {}
        for key, after in self.rows.items():
            row = grown(before.rows.get(key), after, _COUNTERS)
            row["nested"] = 0 if after["toplevel"] else row["calls"]
            if row["calls"] == 1:
                row["min_ms"] = row["max_ms"] = row["total_ms"]
            if row["calls"] > 0:
                known = uses.get(row["queryid"])
                uses[row["queryid"]] = _added(known, row) if known else row
        for row in uses.values():
            row["lookups"] = row["hits"] + row["reads"]
        kept = most(uses, MOST_ROWS, "total_ms", "lookups", "temp_blocks")
        texts = self._texts(kept, session)
        return [
            StatementUse(
                str(key),
                texts.get(key) or "",
                row["calls"],
                row["total_ms"],
                row["min_ms"],
                row["max_ms"],
                row["rows"],
                row["lookups"],
                row["reads"],
                row["temp_blocks"] * row["page_bytes"],
                nested=row["nested"],
            )
            for key in kept
            for row in (uses[key],)
            if NAME not in (texts.get(key) or "")
        ]

    @property
    def trusted(self) -> set[str]:
        """The statements that this role or a superuser has run."""
        return {str(row["queryid"]) for row in self.rows.values() if row["trusted"]}

    def noted(self, before: Statements) -> Statements:
        """Itself, with a note if statements were evicted since ``before``."""
        if self.evicted <= before.evicted or not self.schema or not before.schema:
            return self
        note = (
            f"some statements are missing: {EXTENSION} keeps {self.most} and removed others "
            f"during the run; an administrator must raise {EXTENSION}.max and restart the server"
        )
        return replace(self, notes=(*self.notes, note))

    def _texts(self, ids: list[Any], session: PostgresConnection) -> dict[Any, str]:
        if not ids:
            return {}
        question = _TEXTS.format(schema=self.schema.replace("%", "%%"))
        found = rows(session, question, {"ids": ids, "most": MOST_TEXT})
        return {row["queryid"]: row["text"] for row in found}


def _obstacle(found: Row, session: PostgresConnection) -> str:
    """Why statements cannot be read, and the remedy; empty if they can."""
    create = f"in the database {found['database']}: CREATE EXTENSION {EXTENSION};"
    if found["schema"] is None and not found["available"]:
        return f"this installation of PostgreSQL has no extension {EXTENSION}"
    if found["most"] is None:
        known = [name.strip() for name in (found["preload"] or "").split(",") if name.strip()]
        value = sql.Literal(",".join([*known, EXTENSION])).as_string(session.raw)
        line = f"shared_preload_libraries = {value} in postgresql.conf"
        then = f", then run {create}" if found["schema"] is None else ""
        return f"an administrator must set {line} and restart the server{then}"
    if found["schema"] is None:
        return f"an administrator must run {create}"
    if _numbers(found["version"]) < _OLDEST:
        update = f"ALTER EXTENSION {EXTENSION} UPDATE;"
        return f"an administrator must run in the database {found['database']}: {update}"
    if not found["may_use"]:
        names = (_quoted(found[name], session) for name in ("schema", "role"))
        return "an administrator must run: GRANT USAGE ON SCHEMA {} TO {};".format(*names)
    return ""


def _added(one: dict[str, Any], other: Row) -> dict[str, Any]:
    """A statement that several roles ran, or clients and functions."""
    total = {name: one[name] + other[name] for name in (*_COUNTERS, "nested")}
    least, longest = min(one["min_ms"], other["min_ms"]), max(one["max_ms"], other["max_ms"])
    return {**one, **total, "min_ms": least, "max_ms": longest}


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdigit())


def _quoted(name: str, session: PostgresConnection) -> str:
    return sql.Identifier(name).as_string(session.raw)
