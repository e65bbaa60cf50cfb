"""A statement as a planner takes it, with the predicates that ask for indexes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import sqlglot
from sqlglot import Token, TokenType, exp
from sqlglot.errors import SqlglotError

from dyno.contracts.hypothetical import Table
from dyno.decide.advise.predicates import Place, places
from dyno.decide.advise.statements import UnreadableError, tree

_SELECTING = (exp.Select, exp.Update, exp.Delete, exp.SetOperation)
_TYPED = {"date", "time", "timestamp", "timestamptz", "interval"}
_UNITS = {"year", "month", "day", "hour", "minute", "second"}


@dataclass(frozen=True)
class Read:
    """A statement as it can be planned.

    Attributes:
        text: With casts in place of typed parameters.
        tables: All tables that it names.
        selected: Each place where it reads a table.
    """

    text: str
    tables: tuple[Table, ...]
    selected: tuple[Place[Table], ...]


def read(text: str, dialect: str, known: Sequence[Table]) -> Read:
    """Reads a statement in a dialect of sqlglot.

    Raises:
        UnreadableError: If it is not one query or change of rows, or names unknown tables or
            functions.
    """
    parsed = tree(text, dialect)
    if not isinstance(parsed, _SELECTING):
        raise UnreadableError("it selects no rows")
    # A function may do anything, also while a statement is planned.
    if (unknown := parsed.find(exp.Anonymous)) is not None:
        raise UnreadableError(f"it calls {unknown.name}, a function that Dyno does not know")
    names = {column.name.lower() for column in parsed.find_all(exp.Column)}

    def find(schema: str, name: str) -> Table:
        fitting = [
            one for one in known if one.table.lower() == name and schema in ("", one.schema.lower())
        ]
        if not fitting:
            raise UnreadableError(f"it names {name}, a table that Dyno does not know")
        return max(fitting, key=lambda one: len(names & {each.lower() for each in one.columns}))

    selected = tuple(places(parsed, find))
    if not selected:
        raise UnreadableError("it names no table that Dyno knows")
    try:
        plain = castable(text, dialect)
    except SqlglotError as error:
        raise UnreadableError("its text cannot be parsed") from error
    return Read(plain, tuple(dict.fromkeys(place.table for place in selected)), selected)


def castable(text: str, dialect: str) -> str:
    """A statement with ``date $1`` as ``$1::date``, which servers can prepare.

    The extension pg_stat_statements replaces the literal in ``date '1998-12-01'`` alone.

    Raises:
        SqlglotError: If the text has no tokens.
    """
    if "$" not in text:
        return text
    tokens = sqlglot.tokenize(text, read=dialect)
    parts: list[str] = []
    end = 0
    for place in range(len(tokens) - 2):
        word, sign, number = tokens[place : place + 3]
        typed = word.text.lower() in _TYPED and sign.token_type == TokenType.PARAMETER
        if not typed or number.token_type != TokenType.NUMBER:
            continue
        parts += [text[end : word.start], f"${number.text}::{word.text}"]
        end = _after(tokens, place + 3, number)
    return "".join([*parts, text[end:]])


def _after(tokens: Sequence[Token], place: int, number: Token) -> int:
    """The end of a typed parameter, with the unit of an interval."""
    unit = tokens[place] if place < len(tokens) else None
    return (unit.end if unit is not None and unit.text.lower() in _UNITS else number.end) + 1
