"""The constants of a statement: they become parameters, so that a draft has no value of a user."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from dyno.contracts.captured import Captured

Known = str | int | None
"""A value of an example; None if it is unknown, or if its text is not its value."""

_EXACT = (exp.Literal, exp.National, exp.RawString, exp.Heredoc)
_CONSTANTS = (
    *_EXACT, exp.ByteString, exp.HexString, exp.BitString, exp.UnicodeString, exp.JSONPath,
)  # fmt: skip
_OF_LITERALS = (exp.JSONExtractScalar, exp.GroupConcat)
"""MySQL's ``->>`` and SEPARATOR take a literal only."""
_POSITION = re.compile(r"[0-9]{1,4}")
_UNIT = (
    r"'(?:microsecond|millisecond|second|minute|hour|day|week|month|quarter|year|decade|century"
    r"|millennium)s?'"
)
_LEFT = re.compile(r"""['"]|\$\w*\$|\b0x|\b[0-9]{6}""", re.IGNORECASE)


class LeftOutError(Exception):
    """A statement that cannot be drafted; the message is a clause."""


STAYS = "it has a literal where no parameter may be"


def replaced(tree: exp.Expr, server: Captured) -> Iterator[tuple[exp.Placeholder, Known]]:
    """Puts a placeholder in place of each constant; the caller names it.

    Raises:
        LeftOutError: If one cannot be replaced.
    """
    if server.castable is not None:
        _cast_intervals(tree, server)
    for found in list(tree.find_all(*_CONSTANTS)):
        if _is_harmless(found):
            continue
        value = _value(found, server)
        place = found.parent if isinstance(found.parent, exp.Introducer) else found
        if isinstance(found.parent, exp.Neg) and not found.is_string and value is not None:
            # A class does not tell -5 from 5: the sign belongs to the value.
            place, value = found.parent, -value if isinstance(value, int) else f"-{value}"
        if isinstance(place.parent, _OF_LITERALS) and server.castable is None:
            raise LeftOutError(STAYS)
        made = exp.Placeholder()
        place.replace(made)
        yield made, value


def require_none(text: str, server: Captured) -> None:
    """Refuses a finished text that still has a constant.

    Raises:
        LeftOutError: If it has.
    """
    mark = re.escape(server.quote)
    name = rf"{mark}(?:[^{mark}]|{mark}{mark})*{mark}"
    if _LEFT.search(re.sub(rf"{name}|{_UNIT}", " ", text, flags=re.IGNORECASE)):
        raise LeftOutError(STAYS)


def _is_harmless(found: exp.Expr) -> bool:
    """Whether it is the position of a column, the length of a type or a number of a hint.

    The grammar wants these numbers where they are, and they tell nothing of a row.
    """
    if not isinstance(found, exp.Literal) or found.is_string:
        return False
    if isinstance(found.parent, exp.Ordered | exp.Group):
        return _POSITION.fullmatch(str(found.this)) is not None
    return found.find_ancestor(exp.DataType, exp.Hint) is not None


def _value(found: exp.Expr, server: Captured) -> Known:
    if isinstance(found, exp.JSONPath):
        with contextlib.suppress(SqlglotError):
            found = sqlglot.parse_one(found.sql(dialect=server.grammar), read=server.grammar)
    rewritten = found.arg_key == "format" or isinstance(found.parent, exp.Bracket)
    if rewritten or not isinstance(found, _EXACT):
        return None
    text = str(found.this)
    whole = isinstance(found, exp.Literal) and not found.is_string and text.isdigit()
    return int(text) if whole else text


def _cast_intervals(tree: exp.Expr, server: Captured) -> None:
    """Writes intervals as casts of texts: a parameter cannot follow the word INTERVAL."""
    for found in list(tree.find_all(exp.Interval)):
        amount, unit = found.this, found.args.get("unit")
        if isinstance(unit, exp.IntervalSpan):
            raise LeftOutError(STAYS)
        if isinstance(amount, exp.Literal):
            amount = exp.Literal.string(f"{amount.this} {unit or ''}".strip())
        if isinstance(amount, exp.Literal | exp.Placeholder):
            found.replace(exp.cast(amount, "interval", dialect=server.grammar))
