"""Columns that a statement selects rows by, from its syntax tree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import sqlglot
from sqlglot import Token, TokenType, exp
from sqlglot.errors import SqlglotError

from dyno.contracts.hypothetical import Table
from dyno.decide.advise.statements import quiet

_RANGES = (exp.GT, exp.GTE, exp.LT, exp.LTE)
_BLOCKS = (exp.Select, exp.Update, exp.Delete)
_TYPED = {"date", "time", "timestamp", "timestamptz", "interval"}
_UNITS = {"year", "month", "day", "hour", "minute", "second"}


class UnreadableError(Exception):
    """A statement that cannot be read; the message is a clause."""


@dataclass
class Selected:
    """Columns of one table that a statement selects rows by.

    Attributes:
        equal: Compared with a value.
        joined: Compared with a column of another table, by that table.
        ranged: Compared by order with a value.
    """

    table: Table
    equal: set[str] = field(default_factory=set[str])
    joined: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    ranged: set[str] = field(default_factory=set[str])


@dataclass(frozen=True)
class Read:
    """A statement as it can be planned.

    Attributes:
        text: With casts in place of typed parameters.
        tables: All tables that it names.
        selected: A place of a table in the statement each.
    """

    text: str
    tables: tuple[Table, ...]
    selected: tuple[Selected, ...]


def read(text: str, dialect: str, known: Sequence[Table]) -> Read:
    """Reads a statement in a dialect of sqlglot.

    Raises:
        UnreadableError: If it is not one query or change of rows, or names unknown tables or
            functions.
    """
    try:
        plain = castable(text, dialect)
        with quiet():
            trees = [tree for tree in sqlglot.parse(plain, read=dialect) if tree is not None]
    except (SqlglotError, RecursionError) as error:
        raise UnreadableError("its text cannot be parsed") from error
    if len(trees) != 1 or not isinstance(trees[0], (*_BLOCKS, exp.SetOperation)):
        raise UnreadableError("it selects no rows")
    (tree,) = trees
    # A function may do anything, also while a statement is planned.
    if (unknown := tree.find(exp.Anonymous)) is not None:
        raise UnreadableError(f"it calls {unknown.name}, a function that Dyno does not know")
    places = _places(tree, known)
    if not places:
        raise UnreadableError("it names no table that Dyno knows")
    found = {id(node): Selected(table) for node, table in places}
    for node in tree.find_all(*_RANGES, exp.EQ, exp.In, exp.Between, exp.Like):
        if _required(node):
            _note(node, places, found)
    tables = tuple(dict.fromkeys(table for _, table in places))
    return Read(plain, tables, tuple(found.values()))


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


Places = list[tuple[exp.Table, Table]]


def _places(tree: exp.Expr, known: Sequence[Table]) -> Places:
    """Every place of a known table in a statement."""
    names = {column.name.lower() for column in tree.find_all(exp.Column)}
    shared = {cte.alias_or_name.lower() for cte in tree.find_all(exp.CTE)}
    found: Places = []
    for node in tree.find_all(exp.Table):
        if not node.db and node.name.lower() in shared:
            continue
        fitting = [
            table
            for table in known
            if table.table.lower() == node.name.lower()
            and (not node.db or table.schema.lower() == node.db.lower())
        ]
        if not fitting:
            raise UnreadableError(f"it names {node.name}, a table that Dyno does not know")
        best = max(fitting, key=lambda table: len(names & {one.lower() for one in table.columns}))
        found.append((node, best))
    return found


def _required(node: exp.Expr) -> bool:
    """Whether a condition must hold for each row: it is not an alternative, and not negated."""
    above = node.parent
    while isinstance(above, exp.And | exp.Paren):
        above = above.parent
    return isinstance(above, exp.Where | exp.Join)


def _note(node: exp.Expr, places: Places, found: dict[int, Selected]) -> None:
    """Notes the columns of one condition."""
    left, right = node.args.get("this"), node.args.get("expression")
    if isinstance(node, exp.EQ):
        _equality(left, right, places, found)
        _equality(right, left, places, found)
        return
    if not isinstance(left, exp.Column):
        left, right = right, left
    owner = _owner(left, places)
    if owner is None or not isinstance(left, exp.Column):
        return
    own = found[id(owner[0])]
    column = _spelt(left, own.table)
    if isinstance(node, exp.In):
        if node.args.get("query") is None:
            own.equal.add(column)
        else:
            own.joined.setdefault("", set()).add(column)
    elif isinstance(node, exp.Like):
        if isinstance(right, exp.Literal) and not str(right.this).startswith(("%", "_")):
            own.ranged.add(column)
    elif not _columns(node, left):
        own.ranged.add(column)


def _equality(side: object, other: object, places: Places, found: dict[int, Selected]) -> None:
    owner = _owner(side, places)
    if owner is None or not isinstance(side, exp.Column) or not isinstance(other, exp.Expr):
        return
    own = found[id(owner[0])]
    column = _spelt(side, own.table)
    others = [place for one in _columns(other, side) if (place := _owner(one, places)) is not None]
    if any(place[0] is owner[0] for place in others):
        return
    if others and not isinstance(other, exp.Subquery):
        own.joined.setdefault(others[0][0].alias_or_name, set()).add(column)
    else:
        own.equal.add(column)


def _columns(tree: exp.Expr, but: exp.Column) -> list[exp.Column]:
    return [one for one in tree.find_all(exp.Column) if one is not but]


def _owner(node: object, places: Places) -> tuple[exp.Table, Table] | None:
    """The place of the table of a column: in the block around it, else in those around that."""
    if not isinstance(node, exp.Column):
        return None
    block = node.find_ancestor(*_BLOCKS)
    while block is not None:
        inside = list(_direct(block))
        for table_node, table in places:
            if not any(one is table_node for one in inside):
                continue
            if node.table and node.table.lower() != table_node.alias_or_name.lower():
                continue
            if any(node.name.lower() == one.lower() for one in table.columns):
                return table_node, table
        block = block.find_ancestor(*_BLOCKS)
    return None


def _direct(block: exp.Expr) -> Iterator[exp.Table]:
    """The tables of a block itself."""
    source = block.args.get("from_") or block.args.get("from")
    joins: Iterable[exp.Expr] = block.args.get("joins") or ()
    own = () if isinstance(block, exp.Select) else (block.this,)
    for node in (*own, *([] if source is None else [source.this]), *(one.this for one in joins)):
        if isinstance(node, exp.Table):
            yield node
            yield from (one.this for one in node.args.get("joins") or ()
                        if isinstance(one.this, exp.Table))  # fmt: skip


def _spelt(column: exp.Column, table: Table) -> str:
    """A column as the catalog spells it."""
    return next(one for one in table.columns if one.lower() == column.name.lower())
