"""Which relation is in which file of PostgreSQL's data folder."""

from __future__ import annotations

import re

from dyno.contracts.relations import Relations
from dyno.contracts.target import Connection

_FILE = re.compile(
    r"(?:^|/)((?:base/\d+|global|pg_tblspc/\d+/[^/]+/\d+)/\d+)(?:_(?:fsm|vm|init))?(?:\.\d+)?$"
)
"""Of a relation: its first file, without its maps and further segments."""

_QUERY = """
SELECT pg_relation_filepath(c.oid),
       coalesce(t.oid::regclass::text, x.oid::regclass::text, c.oid::regclass::text),
       CASE WHEN t.oid IS NOT NULL OR x.oid IS NOT NULL THEN 'toast'
            WHEN c.relkind = 'i' THEN 'index' ELSE 'table' END
FROM pg_class c
LEFT JOIN pg_class t ON t.reltoastrelid = c.oid
LEFT JOIN pg_index i ON i.indexrelid = c.oid
LEFT JOIN pg_class x ON x.reltoastrelid = i.indrelid
WHERE pg_relation_filepath(c.oid) IS NOT NULL
"""


def relations(session: Connection) -> Relations:
    """The relations of the session's database.

    Raises:
        DynoError: If the server does not respond.
    """
    rows = (map(_text, row) for row in session.execute(_QUERY).rows)
    known = {path: f"{name} ({kind})" for path, name, kind in rows}

    def relation(path: str) -> str | None:
        found = _FILE.search(path)
        return known.get(found[1]) if found else None

    return relation


def _text(value: object) -> str:
    """Text; of a database that declares no encoding, it comes as bytes."""
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)
