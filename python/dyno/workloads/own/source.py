"""The text of a file for the record, without what may be a secret."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence

from dyno.safety.redaction import is_secret, secretless
from dyno.workloads.own import setup
from dyno.workloads.own.spec import DIALECTS, File

_HIDDEN = "***"
_LITERAL = (
    r'"""(?:[^\\]|\\.)*?"""|'
    r"'''.*?'''|"
    r'"(?:[^"\\\n]|\\.)*"|'
    r"'[^'\n]*'|[-+\w.]+"
)


def text_of(file: File, text: str) -> str:
    """The text for the record.

    Statements that may have a secret lose their literals, draws with the name of one their values.
    """
    names = [name for name in file.draws if is_secret(name)]
    if names:
        text = _hidden(text, file, names)
        if not _is_hidden(text, names):
            return secretless(text)
    for statement in _statements(file):
        if (safe := secretless(statement)) != statement:
            if statement not in text:  # written with escapes
                return secretless(text)
            text = text.replace(statement, safe)
    return text


def _hidden(text: str, file: File, names: Sequence[str]) -> str:
    """The text without the constants of these draws, and without their values in queries."""
    secrets = {file.draws[name].constant for name in names}
    secrets |= {query.values.get(name) for query in file.queries for name in names}
    keys = "|".join(["constant", *names])

    def hide(found: re.Match[str]) -> str:
        try:
            value = tomllib.loads(f"value = {found[2]}")["value"]
        except tomllib.TOMLDecodeError:
            return found[0]
        return f"{found[1]}'{_HIDDEN}'" if value in secrets else found[0]

    return re.sub(rf"""(\b(?:{keys})["']?\s*=\s*)({_LITERAL})""", hide, text, flags=re.DOTALL)


def _is_hidden(text: str, names: Sequence[str]) -> bool:
    """Whether all were found: a key may be written with escapes."""
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError:  # a file of SQL, whose text is appended, has odd characters
        return False
    constants = {found["draws"][name].get("constant") for name in names}
    queries = found.get("queries", [])
    values = {query.get("values", {}).get(name) for query in queries for name in names}
    return constants | values <= {_HIDDEN, None}


def _statements(file: File) -> Iterator[str]:
    """Every text of SQL in a file."""
    for transaction in file.transactions.values():
        for each in transaction.statements:
            if isinstance(each, str):
                yield each
            else:
                own = (each.sql, *(getattr(each, dialect) for dialect in DIALECTS))
                yield from (text for text in own if text is not None)
    for draw in file.draws.values():
        if draw.query is not None:
            yield draw.query
    for worded in (*file.queries, *setup.steps(file.setup), *file.checks):
        yield from worded.texts.values()
    yield from (check.same_as for check in file.checks if check.same_as is not None)
