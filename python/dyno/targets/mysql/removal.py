"""What Dyno has made in a server that is not its own, and how it goes again.

A database can bear no mark, so an empty one stays.
"""

from __future__ import annotations

from dyno import workloads
from dyno.errors import TargetError
from dyno.targets import mark
from dyno.targets.mysql import ddl
from dyno.targets.mysql.connection import MysqlConnection, literal, quoted


def marked(session: MysqlConnection) -> list[str]:
    """Tables that bear Dyno's mark, in words for a person."""
    return [f"table {place}.{name}" for place, name in _tables(session)]


def remove(session: MysqlConnection) -> list[str]:
    """Removes them, unless a table that is not Dyno's refers to one: then all stay.

    Returns:
        What went.

    Raises:
        TargetError: If there is such a table, or this user may not.
    """
    tables = _tables(session)
    for place in dict.fromkeys(place for place, _ in tables):
        _require_free(session, place, {name for at, name in tables if at == place})
    for place, name in tables:
        session.execute(f"DROP TABLE {quoted(place)}.{quoted(name)}")
    return [f"table {place}.{name}" for place, name in tables]


def _tables(session: MysqlConnection) -> list[tuple[str, str]]:
    """Those that refer to others come first."""
    found: list[tuple[str, str]] = []
    for workload in workloads.names():
        place = mark.schema_of(workload)
        comments = ddl.relations(session, place)
        own = sorted(name for name, text in comments.items() if mark.is_mark(text, workload))
        found += [(place, name) for name in ddl.referring_first(session, place, own)]
    return found


def _require_free(session: MysqlConnection, place: str, own: set[str]) -> None:
    rows = session.execute(
        "SELECT constraint_schema, table_name, referenced_table_name "  # noqa: S608  (quoted)
        "FROM information_schema.referential_constraints "
        f"WHERE unique_constraint_schema = {literal(place)} ORDER BY 1, 2"
    ).rows
    for schema, table, referred in rows:
        if referred in own and (schema != place or table not in own):
            raise TargetError(
                f"{schema}.{table}, which is not Dyno's, refers to {place}.{referred}; "
                "nothing was removed. Drop that foreign key first.",
                kind="database",
            )
