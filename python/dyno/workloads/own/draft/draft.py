"""Drafts transactions and draws from what a server ran."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlglot import TokenType

from dyno.contracts.advice import TableFacts
from dyno.contracts.captured import Captured
from dyno.safety.redaction import is_secret, secretless
from dyno.workloads.own import sql
from dyno.workloads.own.classes import distinct, name_of
from dyno.workloads.own.draft.constants import LeftOutError, require_none, statements_in
from dyno.workloads.own.draft.parameters import Parameter, Read, of_counted, of_example
from dyno.workloads.own.draft.values import Value, of_change, of_column, of_guess
from dyno.workloads.own.spec import MOST_REPEATS, MOST_STATEMENTS
from dyno.workloads.own.steps import MOST_RUN, size_of

_LONGEST_NAME = 30
_SECRET = "its text may name a password, a key or an account"  # noqa: S105  (words for people)
_UTILITY = "it neither queries nor changes rows"
SEVERAL = "its text has several statements"
LENGTHS = "the length of the first execution; others may have had another"
_LISTED = re.compile(r"\b(?:in|values) \(+\?\)|\[\?\]")
_TURNS = {TokenType.BEGIN, TokenType.COMMIT, TokenType.ROLLBACK, TokenType.END}
_FULL = f"its transaction would be longer than {MOST_RUN} statements or drawn values"


@dataclass(frozen=True)
class Ran:
    """A statement that a server ran.

    Attributes:
        text: As the server counts it, or as its log has it.
        example: Whether the text has its values.
        values: Those of ``$1`` … in an example of the extended protocol.
        runs: How often it ran in a row, on average.
        shape: Its text with ``?`` for each literal and each list of literals; empty if unknown.
    """

    text: str
    example: bool = False
    values: Sequence[str | None] | None = None
    runs: float = 1.0
    shape: str = ""


@dataclass(frozen=True)
class Together:
    """Statements that ran in one transaction.

    Attributes:
        count: How often.
        explicit: Whether between BEGIN and COMMIT; None if unknown.
    """

    count: int
    statements: Sequence[Ran]
    explicit: bool | None = None


@dataclass(frozen=True)
class Drafted:
    """A transaction of the file: its name, weight, and statements with ``:name`` parameters.

    Attributes:
        listed: Whether lists or rows of values may have had other lengths in other executions.
    """

    name: str
    weight: int
    statements: tuple[tuple[str, int], ...]
    begin: bool | None
    listed: bool = False


@dataclass(frozen=True)
class Draft:
    """A file.

    Attributes:
        transactions: The most frequent first.
        draws: By name.
        left_out: Why statements or transactions are missing, with how often they ran.
        notes: What may differ from what ran.
    """

    transactions: tuple[Drafted, ...]
    draws: Mapping[str, Value]
    left_out: Mapping[str, int]
    notes: tuple[str, ...] = ()

    @property
    def open(self) -> list[str]:
        """Names of draws that must be filled in."""
        return [name for name, value in self.draws.items() if value.is_open]


@dataclass
class _Draws:
    """The draws so far, of all statements that were read."""

    tables: Mapping[str, TableFacts]
    server: Captured
    with_values: bool
    made: dict[str, Value] = field(default_factory=dict[str, Value])
    _names: dict[tuple[str, ...], str] = field(default_factory=dict[tuple[str, ...], str])

    def name(self, parameter: Parameter, known: dict[tuple[str, ...], list[object]]) -> str:
        """The draw of a parameter.

        Args:
            parameter: The parameter.
            known: Values that the transaction has of each column so far. The same value is the
                same draw: what reads a row also changes it.
        """
        apart = not parameter.column or parameter.role in {"changed", "width", "inserted"}
        place = (parameter.role if apart else "", parameter.table, parameter.column)
        values = known.setdefault(place, [])
        value: object = parameter.value
        if value is not None and value in values:
            number = values.index(value)
        else:
            number = len(values)
            values.append(value if value is not None else object())
        own = str(value) if self._is_constant(parameter) else ""
        key = (*place, str(number), own)
        if key not in self._names:
            self._names[key] = self._unique(parameter)
            value = self._value(parameter)
            if parameter.listed and not value.note:
                value = replace(value, note="a guess: one value in place of a list")
            self.made[self._names[key]] = value
        return self._names[key]

    def _unique(self, parameter: Parameter) -> str:
        plain = re.sub(r"[^a-z0-9_]+", "_", (parameter.column or parameter.role).lower()).strip("_")
        base = {"unknown": "value", "now": "now_value"}.get(plain, plain)[:_LONGEST_NAME]
        base = base if base[:1].isalpha() else f"v_{base}"
        number, name = 1, base
        while name in self.made:
            number += 1
            name = f"{base}_{number}"
        return name

    def _is_constant(self, parameter: Parameter) -> bool:
        """Whether the value of the example is all that is known."""
        if not self.with_values or parameter.value is None or is_secret(parameter.column):
            return False
        sampled = self._sampled(parameter)
        undrawn = parameter.role in {"changed", "width", "limit", "interval", "unknown"}
        return undrawn or (sampled.is_open and not sampled.new)

    def _sampled(self, parameter: Parameter) -> Value:
        if not parameter.column:
            return Value({}, "fill in: it belongs to no known column")
        inserted = parameter.role == "inserted"
        return of_column(
            self.tables[parameter.table], parameter.column, self.server, inserted=inserted
        )

    def _value(self, parameter: Parameter) -> Value:
        if self._is_constant(parameter):
            return Value({"constant": parameter.value}, "the value of one execution")
        if (guess := of_guess(parameter.role, self.server)) is not None:
            return guess
        if parameter.role == "changed":
            return of_change(self.tables[parameter.table], parameter.column)
        return self._sampled(parameter)


def draft(
    ran: Iterable[Together],
    tables: Mapping[str, TableFacts],
    server: Captured,
    top: int,
    *,
    with_values: bool = False,
) -> Draft:
    """Drafts a file.

    Args:
        ran: What ran, the most frequent first.
        tables: Those of the database by name without schema, in lower case; with it where several
            schemas have one.
        server: Which records it has.
        top: The most transactions.
        with_values: Whether values of examples may be in the file.
    """
    draws = _Draws(tables, server, with_values)
    left_out: dict[str, int] = {}
    used: dict[tuple[tuple[str, int], ...], set[str]] = {}
    every: list[tuple[str, Together, tuple[tuple[str, int], ...]]] = []
    turns = 0
    for one in ran:
        turns += one.count * any(_is_turn(each.text, server) for each in one.statements)
        texts, taken = _texts(one, draws, left_out)
        if texts:
            used.setdefault(texts, taken)
            every.append((_name(texts), one, texts))
    every = _merged(every)
    found = every[:top]
    if beyond := sum(one.count for _, one, _ in every[top:]):
        left_out["beyond --top"] = beyond
    names = distinct(name for name, _, _ in found)
    drawn = {name for _, _, texts in found for name in used[texts]}
    transactions = tuple(
        Drafted(name, one.count, texts, _begin(one, texts), _is_listed(one))
        for name, (_, one, texts) in zip(names, found, strict=True)
    )
    return Draft(
        transactions,
        {name: value for name, value in draws.made.items() if name in drawn},
        left_out,
        _notes(transactions, turns),
    )


def _is_listed(one: Together) -> bool:
    return any(_LISTED.search(each.shape) for each in one.statements)


def _is_turn(text: str, server: Captured) -> bool:
    """Whether it has several statements, and one of them begins or ends a transaction."""
    found = statements_in(text, server.grammar)
    return len(found) > 1 and any(one[0].token_type in _TURNS for one in found)


def _notes(transactions: Sequence[Drafted], turns: int) -> tuple[str, ...]:
    notes: list[str] = []
    if names := ", ".join(one.name for one in transactions if one.listed):
        notes.append(f"Lists and rows of values have {LENGTHS}: {names}.")
    if turns:
        notes.append(
            f"Texts with several statements began or ended transactions {turns:,} times. "
            "Statements after them may be drafted as transactions of their own."
        )
    return tuple(notes)


def _texts(
    one: Together, draws: _Draws, left_out: dict[str, int]
) -> tuple[tuple[tuple[str, int], ...], set[str]]:
    """The statements of a transaction that can be drafted and how often they run; their draws."""
    known: dict[tuple[str, ...], list[object]] = {}
    texts: list[tuple[str, int]] = []
    sizes: list[tuple[set[str], int]] = []
    for statement in one.statements:
        try:
            read = _read(statement, draws.tables, draws.server)
            names = {each.name: draws.name(each, known) for each in read.parameters}
            size = (set(names.values()), _repeat(statement))
            if len(texts) == MOST_STATEMENTS or max(size_of([*sizes, size])) > MOST_RUN:
                raise LeftOutError(_FULL)
            texts.append((_text(read, names, draws), size[1]))
            sizes.append(size)
        except LeftOutError as reason:
            left_out[str(reason)] = left_out.get(str(reason), 0) + one.count
    return tuple(texts), {name for names, _ in sizes for name in names}


def _merged(
    found: list[tuple[str, Together, tuple[tuple[str, int], ...]]],
) -> list[tuple[str, Together, tuple[tuple[str, int], ...]]]:
    """Adds up transactions of the same statements, which servers count by role and by type."""
    made: dict[Any, tuple[str, Together, tuple[tuple[str, int], ...]]] = {}
    for name, one, texts in found:
        key = (texts, one.explicit)
        count = one.count + (made[key][1].count if key in made else 0)
        made[key] = (name, replace(one, count=count), texts)
    return sorted(made.values(), key=lambda each: -each[1].count)


def _read(statement: Ran, tables: Mapping[str, TableFacts], server: Captured) -> Read:
    if secretless(statement.text) != statement.text:
        raise LeftOutError(_SECRET)
    if len(statements_in(statement.text, server.grammar)) > 1:
        raise LeftOutError(SEVERAL)
    word = re.match(r"(?:[\s(]|/\*.*?\*/)*([A-Za-z]*)", statement.text, re.DOTALL)
    if word is None or word[1].lower() not in sql.VERBS:
        raise LeftOutError(_UTILITY)
    if statement.example:
        values = statement.values
        if values is not None and is_secret(statement.text):
            values = [None] * len(values)  # the text has no literal, but one of them may be it
        read = of_example(statement.text, values, server, tables)
    else:
        read = of_counted(statement.text, server, tables)
    if len(read.parameters) > sql.MOST_PARAMETERS:
        raise LeftOutError(f"it has more than {sql.MOST_PARAMETERS} parameters")
    return read


def _text(read: Read, names: Mapping[str, str], draws: _Draws) -> str:
    """The statement with the names of its draws.

    Raises:
        LeftOutError: If it has a constant nevertheless.
    """

    def named(found: re.Match[str]) -> str:
        name = names[found[1]]
        cast = draws.made[name].cast
        return f"CAST(:{name} AS {cast})" if cast else f":{name}"

    text = re.sub("\0(p[0-9]+)\0", named, read.text)
    require_none(text, draws.server)
    return text


def _repeat(statement: Ran) -> int:
    return max(1, min(MOST_REPEATS, round(statement.runs)))


def _name(texts: tuple[tuple[str, int], ...]) -> str:
    """The name of a transaction: of its first change, else of its first statement."""
    every = [text.lower() for text, _ in texts]
    change = next((text for text in every if not text.startswith(("select", "with"))), every[0])
    return name_of(change)


def _begin(one: Together, texts: tuple[tuple[str, int], ...]) -> bool | None:
    """What the file says of BEGIN; None where its default is right."""
    alone = len(texts) == 1 and texts[0][1] == 1 and sql.Parsed(texts[0][0], ()).reads
    usual = not alone
    return None if one.explicit is None or one.explicit == usual else one.explicit
