"""Messages of servers without the values of rows and statements in them."""

from __future__ import annotations

import re
from collections.abc import Generator
from contextlib import contextmanager

from dyno.errors import DynoError

_ABOUT_SESSIONS = {"denied", "too_many_connections", "unreachable"}
"""Kinds of errors whose messages name accounts and settings only."""

_QUOTES = "\"'`«»‹›„“”‚‘’「」『』"
_KINDS = (
    "constraint|database|field|function|index|key|key name|object|object name|parameter|procedure"
    "|relation|schema|sequence|table|trigger|type|view|with name"
)
_COLUMN = "(?<!unknown )(?<!invalid )column"
"""A column that is not missing: a server may take a string in double quotes for a column."""
_WRITTEN = "column|column name|near"
_NAME = r"""(?:"[\w$.-]+"|'[\w$.-]+'|`[^`'"]+`)(?:\.`[^`'"]+`)*"""
_TEXT = rf"(?:[^{_QUOTES}]|(?<=n)'(?=t\b))"
_BEFORE, _BEFORE_WRITTEN = (
    re.compile(rf"(?:{_TEXT}*(?:\b(?:{_KINDS}|{more}) {_NAME}|`[^`'\"]+`))*{_TEXT}*", re.I)
    for more in (_COLUMN, _WRITTEN)
)
"""What comes before the first value: words, and names after the word for their kind."""
_AFTER = re.compile(
    rf"(?: for (?:column|key|table) {_NAME}(?: at row \d+)?)?{_TEXT}*\Z", re.I | re.DOTALL
)
"""What follows the last value. A value may have quotes itself, which MariaDB does not escape."""
_NUMBER = r"[-+]?\d(?:[\d.]*\d)?(?:e[-+]?\d+)?"
_BARE = re.compile(
    r"(\bvalue (?:is |= )?)"
    rf"(?:\(.*\)(?=\.)|.+(?= can't be cast)|{_NUMBER})"
    r"|(\boverflow (?:in|on) (?:[a-z]\w*(?:\(\d+(?:, ?\d+)?\)(?= ))?[ (]+)*)"
    rf"{_NUMBER}(?: \S{{1,2}} {_NUMBER})?",
    re.DOTALL | re.IGNORECASE,
)
"""Values that are not in quotes: after their word, or the operands of what overflowed."""
_RAISED = re.compile(
    r".*(\[(?:SQLSTATE P0001|error (?!33557097\])(?:1644|[5-9]\d{4}|[1-9]\d{5,9}))\].*)", re.DOTALL
)
"""Errors that functions and triggers raise, with any text (RAISE, SIGNAL, THROW)."""


@contextmanager
def without_values() -> Generator[None]:
    """Takes the values out of the messages of errors of statements whose texts are recorded."""
    try:
        yield
    except DynoError as error:
        error.args = (valueless(error.kind, str(error), written=True),)
        raise


def valueless(kind: str, message: str, *, written: bool = False) -> str:
    """An error message of a server without values of rows and statements.

    Codes, words and the names of tables, keys and constraints stay.

    Args:
        kind: Class of the error.
        message: The message, with the code in brackets.
        written: Whether the text of the statement is recorded, so that its words may stay.
    """
    if kind in _ABOUT_SESSIONS:
        return message
    if raised := _RAISED.fullmatch(message):
        return f"Raised by a function or trigger {raised[1]}"
    message = _BARE.sub(r"\1\2…", message)
    before = (_BEFORE_WRITTEN if written else _BEFORE).match(message)
    end = before.end() if before is not None else 0
    if end == len(message):
        return message
    after = _AFTER.search(message, end)
    return f"{message[:end]}'…'{'' if after is None else after[0]}"
