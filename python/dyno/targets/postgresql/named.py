"""Tables that statements name: their rows, columns and keys. Changes nothing."""

from __future__ import annotations

from collections.abc import Sequence

from dyno.contracts.advice import TableFacts
from dyno.targets.postgresql import columns
from dyno.targets.postgresql.connection import PostgresConnection
from dyno.targets.postgresql.inside import observer
from dyno.targets.postgresql.inside.observer import rows

_TIMEOUT_S = 10.0
_ROWS = f"""SELECT c.name, (CASE WHEN c.relkind = 'p' THEN (
        SELECT sum(greatest(pg_stat_get_live_tuples(p.oid), p.reltuples, 0))
        FROM pg_partition_tree(c.oid) t JOIN pg_class p ON p.oid = t.relid WHERE t.isleaf)
    ELSE greatest(pg_stat_get_live_tuples(c.oid), c.reltuples, 0) END)::bigint AS rows
FROM {columns.NAMED} ORDER BY 1"""  # noqa: S608  (fixed text)
"""A partitioned table has no rows of its own: those of its parts."""


def read(session: PostgresConnection, names: Sequence[str]) -> list[TableFacts]:
    """The tables of these names in all schemas, within ten seconds a question.

    Raises:
        DynoError: If the server does not respond.
    """
    observer.prepare(session, _TIMEOUT_S)
    found, keys = columns.read(session, names), columns.keys(session, names)
    return [
        TableFacts(
            str(row["name"]),
            rows=int(row["rows"] or 0),
            columns=found.get(row["name"], ()),
            keys=keys.get(row["name"], columns.Keys()).columns,
            primary_key=keys.get(row["name"], columns.Keys()).primary,
        )
        for row in rows(session, _ROWS, {"names": list(names)})
    ]
