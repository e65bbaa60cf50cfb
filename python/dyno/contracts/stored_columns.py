"""What advice on column stores needs to know of the tables of a live database."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class StoredColumn:
    """A column, by the statistics of the engine. Unknown values are None.

    Attributes:
        type: In the engine's words.
        width: Mean bytes of a value.
        distinct: Number of distinct values.
        common: Share of the rows, 0 to 1, that have one of the most common values.
        key: Whether it is part of the primary key.
        large: Whether its values are of a large type (LOB), or longer than a page holds.
    """

    name: str
    type: str
    width: float | None = None
    distinct: float | None = None
    common: float | None = None
    key: bool = False
    large: bool = False


class ColumnReader(Protocol):
    """Reads tables in one session, each named as in ``Catalog.tables``. It changes nothing.

    All methods raise ``DynoError`` if the database does not respond, or a table may not be read.

    Attributes:
        sql: The dialect of its statements, as sqlglot names it.
    """

    sql: str

    def columns(self, table: str) -> Sequence[StoredColumn]:
        """The columns of a table, in order."""
        ...

    def changed(self, table: str) -> int | None:
        """Rows updated or deleted since the counters began; None if they are not counted."""
        ...

    def sample(self, table: str, names: Sequence[str], rows: int) -> pa.Table:
        """At most so many rows of the named columns, as they lie in the table."""
        ...

    def column_store(self) -> str:
        """What this server needs to store tables in columns; empty if it can. A clause."""
        ...

    def close(self) -> None:
        """Closes the session."""
        ...


@runtime_checkable
class Columned(Protocol):
    """A target whose columns can be read."""

    def column_reader(self) -> ColumnReader:
        """A reader with a session of its own.

        Raises:
            DynoError: If the database does not respond.
        """
        ...
