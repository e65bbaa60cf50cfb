"""How to draw the values of a column."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from dyno.contracts.advice import ColumnFacts, TableFacts
from dyno.contracts.captured import Captured

MOST_ROWS = 100_000
"""Rows from which values of a column are drawn."""
_SHARE_OF_MOST = 0.9
"""Rows of a sample on average; the limit is a guard, as samples and counts of rows vary."""
_WHOLE = re.compile(r"(?:small|medium|tiny|big)?int(?:eger)?\b|serial|bigserial", re.IGNORECASE)
_DECIMAL = re.compile(r"(?:numeric|decimal)\s*(?:\(|$)", re.IGNORECASE)
_TEXT = re.compile(
    r"(?:character|varchar|char|text|bpchar|citext|enum|set|tinytext|mediumtext)\b", re.IGNORECASE
)
_PLAIN = re.compile(r"[a-z_][a-z0-9_]*")
_GUESSED_LIMIT = 10
_GUESSED_PERIOD = "1 day"
_GUESSED_CHANGE = 1
_GUESSED_WIDTH = 99


@dataclass(frozen=True)
class Value:
    """A draw as the file has it.

    Attributes:
        draw: Its keys; empty if it must be filled in.
        note: A comment above it; empty for none.
        cast: The type that its parameter is cast to in statements; empty for none.
        new: Whether each value must be new.
    """

    draw: dict[str, Any]
    note: str = ""
    cast: str = ""
    new: bool = False

    @property
    def is_open(self) -> bool:
        """Whether it must be filled in before the file runs."""
        return not self.draw


def of_column(table: TableFacts, name: str, server: Captured, *, inserted: bool) -> Value:
    """Values of a column, from the rows of its table.

    Args:
        table: The table.
        name: The column, whatever its case.
        server: Whose table it is.
        inserted: Whether the value goes into a new row.
    """
    column = _found(table, name)
    where = f"{table.name}.{column.name}"
    unique = any(columns == (column.name,) for columns in table.keys.values())
    if inserted and unique:
        how = f"fill in: a new key of {where}, such as {{ sequence = 1_000_000 }}"
        return Value({}, how, new=True)
    if table.rows == 0:
        return Value({}, f"fill in: {where} has no rows to draw from")
    shown = key = quoted(column.name, server)
    cast = ""
    if not _is_plain(column):
        shown = f"cast({key} as {server.as_text})"
        if server.castable is not None:
            if not server.castable.fullmatch(column.type):
                return Value({}, f"fill in: {where} has the type {column.type}")
            cast = column.type
    return Value({"query": _sample(table, shown, f"{key} is not null", server)}, "", cast)


def of_change(table: TableFacts, name: str) -> Value:
    """The amount that is added to a column; its own values would double it again and again."""
    column = _found(table, name)
    where = f"{table.name}.{column.name}"
    if not (_WHOLE.match(column.type) or _DECIMAL.match(column.type)):
        return Value({}, f"fill in: by how much {where} changes; its type is {column.type}")
    return Value({"constant": _GUESSED_CHANGE}, f"a guess: by how much {where} changes")


def of_guess(role: str, server: Captured) -> Value | None:
    """The value of a LIMIT, an interval or the width of a range; None for other roles."""
    if role == "limit":
        return Value({"constant": _GUESSED_LIMIT}, "a guess: of LIMIT or OFFSET")
    if role == "interval":  # the unit is part of the value where it is cast
        period = 1 if server.castable is None else _GUESSED_PERIOD
        return Value({"constant": period}, "a guess: of an interval")
    if role == "width":
        return Value({"constant": _GUESSED_WIDTH}, "a guess: from the first to the last of a range")
    return None


def is_whole(table: TableFacts, name: str) -> bool:
    """Whether a column has integers."""
    return _WHOLE.match(_found(table, name).type) is not None


def quoted(name: str, server: Captured) -> str:
    """A name in SQL, quoted if it must be."""
    mark = server.quote
    return name if _PLAIN.fullmatch(name) else f"{mark}{name.replace(mark, mark * 2)}{mark}"


def _found(table: TableFacts, name: str) -> ColumnFacts:
    return next(one for one in table.columns if one.name.lower() == name.lower())


def _is_plain(column: ColumnFacts) -> bool:
    """Whether a draw has values of its type."""
    plain = any(kind.match(column.type) for kind in (_WHOLE, _DECIMAL, _TEXT))
    return plain and "[" not in column.type


def _sample(table: TableFacts, shown: str, where: str, server: Captured) -> str:
    rows = table.rows or 0
    if rows <= MOST_ROWS:
        return server.every.format(shown=shown, table=table.name, where=where, most=MOST_ROWS)
    # Samples come in the order of the table: a limit that cuts them leaves out its end.
    share = _SHARE_OF_MOST * MOST_ROWS / rows
    return server.sample.format(
        shown=shown, table=table.name, where=where, share=f"{share:.3g}",
        percent=f"{100 * share:.3g}", most=MOST_ROWS,
    )  # fmt: skip
