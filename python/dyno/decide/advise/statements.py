"""Statements as trees: read with the grammar of the engine, with values for placeholders.

Servers store statements without their literals: ``date $1`` in PostgreSQL, ``IN (...)`` and
``LIMIT ?`` in MariaDB. The grammar wants a value there, so each placeholder becomes one. MariaDB
stores the word ``DAY``, be it a unit or a column, as ``SQL_TSI_DAY``.
"""

from __future__ import annotations

import contextlib
import logging
import re
from collections.abc import Generator, Iterator

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.scope import Scope, traverse_scope

from dyno.safety.text import plain

LONGEST = 10_000
"""Characters of a statement; a longer one was cut off when it was recorded."""

# Quoted texts and comments first, so that what looks like a placeholder in them stays.
_TOKEN = re.compile(
    r"""(?P<kept>'(?:[^'\\]|''|\\.)*'|"[^"]*"|`[^`]*`|--[^\n]*|/\*.*?\*/)"""
    r"""|(?P<interval>\binterval\s+(?:\$\d+|\?)(?:\s+sql_tsi_\w+|(?!\s*(?:year|quarter|month|week|day|hour|min|sec|\d))))"""
    r"""|\bsql_tsi_(?P<word>\w+)"""
    r"""|(?P<marked>\$\d+|\?|\.\.\.)""",
    re.IGNORECASE | re.DOTALL,
)
_VALUE = "'1'"


class UnreadableError(Exception):
    """A statement is not in the grammar."""


def tree(text: str, grammar: str) -> exp.Expr:
    """The tree of a statement.

    Args:
        text: As the server stores it.
        grammar: A dialect of ``sqlglot``.

    Raises:
        UnreadableError: If it cannot be parsed, or is cut off.
    """
    if len(text) >= LONGEST:
        raise UnreadableError
    try:
        with quiet():
            return sqlglot.parse_one(_TOKEN.sub(_filled, text), read=grammar)
    except (SqlglotError, RecursionError, ValueError, AttributeError, TypeError) as error:
        raise UnreadableError from error


@contextlib.contextmanager
def quiet() -> Generator[None]:
    """Keeps sqlglot from logging statements that it does not know: they are a result."""
    logger = logging.getLogger("sqlglot")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(level)


def brief(text: str, most: int) -> str:
    """A statement in one line of at most ``most`` characters."""
    line = " ".join(plain(text).split())
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"


def _filled(token: re.Match[str]) -> str:
    if token["kept"] is not None:
        return token["kept"]
    if token["word"] is not None:
        return token["word"]
    return "interval '1 day'" if token["interval"] is not None else _VALUE


def scopes(found: exp.Expr) -> Iterator[Scope]:
    """The queries of a statement, each with what it reads from.

    An UPDATE or DELETE reads its table as a query with the same condition does.
    """
    try:
        for query in _queries(found):
            yield from traverse_scope(query)
    except (SqlglotError, RecursionError) as error:
        raise UnreadableError from error


def _queries(found: exp.Expr) -> Iterator[exp.Expr]:
    if isinstance(found, exp.Update | exp.Delete):
        table, where = found.this, found.args.get("where")
        if isinstance(table, exp.Table):
            read = exp.select("*").from_(table.copy())
            for other in _others(found):
                read = read.join(other.copy(), join_type="cross")
            if where is not None:
                read.set("where", where.copy())
            yield read
    elif isinstance(found, exp.Query):
        yield found
    elif isinstance(found, exp.Insert | exp.Create) and isinstance(found.expression, exp.Query):
        yield found.expression


def _others(found: exp.Update | exp.Delete) -> list[exp.Expr]:
    """Further tables: ``UPDATE … FROM``, ``DELETE … USING``."""
    more = found.args.get("from_") or found.args.get("from")
    using = found.args.get("using") or []
    return [*([more.this] if more is not None else []), *using]
