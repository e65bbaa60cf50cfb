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
VALUE = "1"
"""The text that stands for a placeholder."""


class UnreadableError(Exception):
    """A statement that cannot be read; the message is a clause."""


def tree(text: str, grammar: str) -> exp.Expr:
    """The tree of one statement.

    Args:
        text: As the server stores it.
        grammar: A dialect of ``sqlglot``.

    Raises:
        UnreadableError: If it cannot be parsed, is cut off, or is not one statement.
    """
    if len(text) >= LONGEST:
        raise UnreadableError("its text is cut off")
    try:
        with _quiet():
            found = sqlglot.parse(_TOKEN.sub(_filled, text), read=grammar)
    except (SqlglotError, RecursionError, ValueError, AttributeError, TypeError) as error:
        raise UnreadableError("its text cannot be parsed") from error
    if len(found) != 1 or found[0] is None:
        raise UnreadableError("it is not one statement")
    return found[0]


@contextlib.contextmanager
def _quiet() -> Generator[None]:
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
    return f"interval '{VALUE} day'" if token["interval"] is not None else f"'{VALUE}'"


def scopes(found: exp.Expr) -> list[Scope]:
    """The queries of a statement, each with what it reads from, inner ones first.

    An UPDATE or DELETE reads its table as a query with the same condition does.

    Raises:
        UnreadableError: If the names of a query are ambiguous, or it is nested too deeply.
    """
    try:
        with _quiet():
            return [scope for query in _queries(found) for scope in traverse_scope(query)]
    except (SqlglotError, RecursionError) as error:
        raise UnreadableError("its names cannot be resolved") from error


def _queries(found: exp.Expr) -> Iterator[exp.Expr]:
    if isinstance(found, exp.Insert | exp.Create) and isinstance(found.expression, exp.Query):
        yield found.expression
    elif isinstance(found, exp.Query):
        yield found
    for changed in found.find_all(exp.Update, exp.Delete):
        if isinstance(changed.this, exp.Table):
            yield _reading(changed, changed.this)


def _reading(changed: exp.Update | exp.Delete, table: exp.Table) -> exp.Select:
    """What an UPDATE or DELETE of a table reads, as a query."""
    assigned = [one.expression.copy() for one in changed.expressions if isinstance(one, exp.EQ)]
    read = exp.select(*assigned or ["*"]).from_(table.copy())
    for other in _others(changed):
        read = read.join(other.copy(), join_type="cross")
    for part in ("where", "with_"):
        if (own := changed.args.get(part)) is not None:
            read.set(part, own.copy())
    return read


def _others(changed: exp.Update | exp.Delete) -> list[exp.Expr]:
    """Further tables: ``UPDATE … FROM``, ``DELETE … USING``."""
    more = changed.args.get("from_")
    using = changed.args.get("using") or []
    return [*([more.this] if more is not None else []), *using]
