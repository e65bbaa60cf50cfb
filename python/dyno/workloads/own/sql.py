"""Statements as users write them: ``:name`` for parameters, which become ``$1``, ``$2`` …"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from dyno.errors import UsageError, closest

LONGEST = 65_536
MOST_PARAMETERS = 256
"""Of a statement, for the driver."""
VERBS = (
    "select", "insert", "update", "delete", "with", "values", "replace", "merge", "call", "exec",
)  # fmt: skip
"""A file of others must not create, grant, drop or copy anything."""
QUERIES = ("select", "with", "values")
_TOKEN = re.compile(
    r"""(?P<hint>/\*[+!].*?\*/)
    | (?P<comment>--[^\n]*|/\*.*?(?:\*/|$))
    | (?P<quoted>'(?:[^']|'')*(?:'|$)|"(?:[^"]|"")*(?:"|$)|`[^`]*(?:`|$)
       |\$(?P<tag>[A-Za-z_]\w*)?\$.*?(?:\$(?P=tag)\$|\$\$|$))
    | (?P<cast>::)
    | (?<![\w:]):(?P<name>[A-Za-z_]\w*)
    | (?P<number>\$\d+)
    | (?P<end>;)""",
    re.DOTALL | re.VERBOSE,
)


_AFTER_END = re.compile(r"(?:\s|;|--[^\n]*|/\*(?![+!]).*?\*/)*", re.DOTALL)
# How a server reads quotes depends on the product and its settings; a word counts if it is outside
# of them in one of these ways.
_QUOTES = tuple(
    re.compile(pattern, re.DOTALL)
    for pattern in (
        r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|\$(\w*)\$.*?\$\1\$""",
        r"""'(?:[^'\\]|''|\\.)*'|"(?:[^"\\]|""|\\.)*"|`[^`]*`""",
        r"""'(?:[^']|'')*'|(?:"(?:[^"]|"")*")""",
        r"""\[(?:[^\]]|\]\])*\]|'(?:[^']|'')*'|"(?:[^"]|"")*\"""",
    )
)
_INTO = re.compile(r"\binto\b", re.IGNORECASE)
_TAKES_INTO = re.compile(r"\b(?:insert|merge|replace|output)\b(?!\s*\()", re.IGNORECASE)
_LOCK = re.compile(r"\bfor\s+(?:key\s+)?share\b|\bin\s+share\s+mode\b", re.IGNORECASE)
_CHANGE = re.compile(
    # ``merge join`` and ``option (merge union)`` are SQL Server's hints.
    r"\b(?:into|update|delete)\b|\b(?:insert|merge(?!\s+(?:join|union)\b))\b(?=\s+[\w\[\"`@#])",
    re.IGNORECASE,
)
# SQL Server needs nothing between two statements. The words are reserved there, except as quoted.
_FURTHER = re.compile(
    r"""\b(?:drop|alter|create|grant|revoke)\s+[a-z]|\btruncate\s+table\b|\bexec(?:ute)?\b
    |\bdeny\s+(?:all|alter|control|delete|execute|insert|select|update|view)\b
    |\b(?:backup|restore)\s+(?:database|log)\b|\b(?:dbcc|reconfigure|shutdown)\b""",
    re.IGNORECASE | re.VERBOSE,
)
# A backtick outside of quotes and brackets is a syntax error in SQL Server.
_BRACKETS = re.compile(r"\[[^\]]*\]|`[^`]*`")
# SQL Server needs no space after a number: ``select 1drop table t``.
_NUMBER = re.compile(r"(?<![\w.$])(\d+(?:\.\d*)?)(?=[a-z])", re.IGNORECASE)
# The text that it runs is not known.
_DYNAMIC = re.compile(
    r"""(?:exec(?:ute)?|call)\s*(?:[(@]|'|[\w.\[\]"\s]*\b(?:xp_|sp_(?:executesql|execute_external
    |prep|cursor|ms|oa|configure|rename|invoke_|start_job
    |(?:add|drop)(?:login|user|role|srv|linked|extendedproc|type))))""",
    re.IGNORECASE | re.VERBOSE,
)
_ANOTHER = re.compile(r";\s*\S")
_REFERENTIAL = re.compile(r"\bon\s+(?:update|delete)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Parsed:
    """A statement for the driver.

    Attributes:
        sql: With parameters ``$1``, ``$2`` …, without comments.
        names: Their names, in order; each once.
    """

    sql: str
    names: tuple[str, ...]

    @property
    def reads(self) -> bool:
        """Whether it is a SELECT that neither changes nor locks rows."""
        locks = any(_LOCK.search(text) for text in self._unquoted)
        return self.sql[:6].lower() == "select" and not self.changes and not locks

    @property
    def changes(self) -> list[str]:
        """Words by which it changes something, in lower case: ``insert``, ``into``, ``update`` …"""
        found = (_CHANGE.findall(_REFERENTIAL.sub(" ", text)) for text in self._unquoted)
        return [word.lower() for word in max(found, key=len)]

    @property
    def selects_into(self) -> bool:
        """Whether it has SELECT … INTO, which creates a table or writes a file."""
        if self.sql.lstrip("( \n")[:6].lower() in {"select", "values"}:
            return any(_INTO.search(text) for text in self._unquoted)
        return all(
            len(_INTO.findall(text)) > len(_TAKES_INTO.findall(text)) for text in self._unquoted
        )

    @property
    def is_one(self) -> bool:
        """Whether it is a single statement, however a server reads quotes."""
        first = re.compile(r"[(\s]*[a-z]+", re.IGNORECASE)
        return not any(
            _ANOTHER.search(text) or _FURTHER.search(first.sub("", text, count=1))
            for text in self.bare
        )

    @property
    def bare(self) -> list[str]:
        """The statement without what is in quotes or brackets, in each way to read quotes."""
        return [_BRACKETS.sub("", text) for text in self._unquoted]

    @property
    def _unquoted(self) -> list[str]:
        """The statement without what is in quotes, in each way to read them."""
        return [_NUMBER.sub(r"\1 ", quotes.sub("''", self.sql)) for quotes in _QUOTES]

    def filled(self, values: Sequence[str]) -> str:
        """The statement with these SQL literals in place of its parameters."""

        def replaced(found: re.Match[str]) -> str:
            number = found["number"]
            return found[0] if number is None else values[int(number[1:]) - 1]

        return _TOKEN.sub(replaced, self.sql)


def parsed(text: str, where: str, verbs: Sequence[str] = VERBS) -> Parsed:
    """Translates the parameters of a statement.

    Args:
        text: SQL; one statement.
        where: What it is called, for messages.
        verbs: Words that it may begin with.

    Raises:
        UsageError: If it is empty, too long, more than one statement, or neither queries nor
            changes rows, or has too many parameters.
    """
    if len(text) > LONGEST:
        raise UsageError(f"{where} is longer than {LONGEST:,} characters.")
    names: list[str] = []

    def replaced(found: re.Match[str]) -> str:
        if found["comment"] is not None:
            return " "
        if found["number"] is not None:
            raise UsageError(f"{where} has {found['number']}; write parameters as :name.")
        if found["end"] is not None:
            if not _AFTER_END.fullmatch(text, found.end()):
                raise UsageError(f"{where} has several statements; list each on its own.")
            return ""
        if (name := found["name"]) is None:
            return found[0]
        if name not in names:
            names.append(name)
        return f"${names.index(name) + 1}"

    sql = _TOKEN.sub(replaced, text).strip()
    word = re.match(r"[A-Za-z]*", sql.lstrip("( \n"))
    verb = word[0].lower() if word else ""
    if verb in {"begin", "start", "commit", "end", "rollback"}:
        raise UsageError(
            f"{where} is {verb.upper()}; transactions begin and end by themselves. Remove it."
        )
    if verb not in verbs:
        near = closest(verb, verbs) if verb else None
        hint = f" Did you mean '{near.upper()}'?" if near else ""
        raise UsageError(
            f"{where} begins with '{verb or sql[:10]}'; a statement must be one of "
            f"{', '.join(verbs).upper()}.{hint}"
        )
    found = Parsed(sql, tuple(names))
    if not found.is_one:
        raise UsageError(
            f"{where} has several statements, or a name that is a command; list each statement on "
            "its own, and quote such names."
        )
    if _DYNAMIC.match(found.sql):
        raise UsageError(f"{where} runs a text or a system procedure; name a procedure of yours.")
    if found.selects_into:
        raise UsageError(
            f"{where} has SELECT … INTO, which creates a table or writes a file. Remove INTO."
        )
    require_few(names, where)
    return found


def require_few(names: Collection[str], where: str) -> None:
    """Refuses more parameters than the driver takes.

    Raises:
        UsageError: With their number.
    """
    if len(names) > MOST_PARAMETERS:
        raise UsageError(f"{where} has {len(names)} parameters; the maximum is {MOST_PARAMETERS}.")
