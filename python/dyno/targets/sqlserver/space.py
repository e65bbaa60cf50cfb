"""The space of databases, as the server's catalog reports it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import ClassVar

from dyno.errors import DynoError
from dyno.targets.sqlserver import buildmemory
from dyno.targets.sqlserver.connection import Session, literal, quoted
from dyno.targets.sqlserver.index import Step, StepLog
from dyno.workspace.footprint import Meter, Probe

_PAGE = 8192
_DATABASES = (
    "SELECT name FROM sys.databases WHERE name LIKE {} ESCAPE N'\\' AND HAS_DBACCESS(name) = 1"
)
ALL = "SELECT COALESCE(SUM(CAST(total_pages AS bigint)), 0) FROM {}.sys.allocation_units"
TABLE = """SELECT COALESCE(SUM(CAST(a.total_pages AS bigint)), 0)
FROM {place}.sys.tables AS t WITH (NOLOCK)
JOIN {place}.sys.indexes AS i WITH (NOLOCK) ON i.object_id = t.object_id
JOIN {place}.sys.partitions AS p WITH (NOLOCK)
ON p.object_id = i.object_id AND p.index_id = i.index_id
JOIN {place}.sys.allocation_units AS a WITH (NOLOCK)
ON a.container_id = CASE a.type WHEN 2 THEN p.partition_id ELSE p.hobt_id END
WHERE t.schema_id = 1 AND t.name = {table}"""
"""Without locks: an index that another session builds has locks in the catalog until its end."""
INDEX = f"{TABLE} AND i.name = {{index}}"


def size_of(session: Session, place: str) -> int | None:
    """Bytes of all objects of the database ``place``, or of all whose names begin with ``dyno_``.

    Args:
        session: A session.
        place: The database; ``dyno_`` for all.

    Returns:
        None if the server has no such catalog, as Babelfish, or this login may not read it.
    """
    pattern = literal(place.replace("_", "\\_") + ("%" if place.endswith("_") else ""))
    names = [str(row[0]) for row in session.execute(_DATABASES.format(pattern)).rows]
    return _bytes(session, [ALL.format(quoted(name)) for name in names])


def table_size(session: Session, place: str, table: str, index: str = "") -> int | None:
    """Bytes of a table of the database ``place``, or of one index of it; 0 if there is none.

    Returns:
        As :func:`size_of`.
    """
    found = {"place": quoted(place), "table": literal(table), "index": literal(index)}
    return _bytes(session, [(INDEX if index else TABLE).format(**found)])


def _bytes(session: Session, questions: list[str]) -> int | None:
    if session.version.is_babelfish:
        return None
    try:
        return _PAGE * sum(int(session.execute(one).rows[0][0]) for one in questions)
    except DynoError as error:
        if not error.is_refusal:
            raise
        return None


class Sizes(StepLog):
    """Measures a step by the growth of its index, and the memory of a column store's build.

    A clustered index is its table. The space of a sort is unknown.
    """

    ALONE: ClassVar = frozenset[str]()

    def __init__(self, meter: Meter, connect: Callable[[], Session], place: str) -> None:
        """Attaches to a server.

        Args:
            meter: The sampler.
            connect: Opens a session that observes.
            place: The database of the tables. Sessions may be in another one.
        """
        super().__init__(meter)
        self._connect, self._place = connect, place
        self._tables: dict[str, int | None] = {}

    def _memory(self, step: Step, session: Session) -> AbstractContextManager[Probe | None]:
        if "COLUMNSTORE" in step.statement:
            return buildmemory.probing(self._connect, session)
        return contextlib.nullcontext()

    def _probe(self, step: Step, session: Session) -> Probe | None:  # noqa: ARG002
        return None

    def _table_bytes(self, step: Step, before: int | None) -> int | None:  # noqa: ARG002
        return self._tables.get(step.name)

    def _size(self, step: Step, session: Session) -> int | None:
        if step.name not in self._tables:
            self._tables[step.name] = table_size(session, self._place, step.table)
        beside = step.kind == "index" or "NONCLUSTERED" in step.statement
        if beside and step.relation is not None:
            return table_size(session, self._place, step.table, step.relation)
        return table_size(session, self._place, step.table)
