"""The conditions of a statement on columns of tables, and whether partitions can use them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from dyno.decide.advise.partition.tables import Known
from dyno.decide.advise.statements import scopes

Form = Literal["equality", "range", "half", "join", "hidden"]
FORMS: tuple[Form, ...] = ("equality", "range", "half", "join", "hidden")
"""The most selective first. ``equality``: with a value or a list of them. ``range``: between two
values. ``half``: above or below one. ``join``: with a column of another table. ``hidden``: within a
function, an OR, or with a column of the same table."""

Find = Callable[[str, str], Known | None]
"""The table of a schema (empty if none is named) and a name, both in lower case."""

_SIDES: tuple[tuple[type[exp.Expr], str], ...] = (
    (exp.GT, "low"), (exp.GTE, "low"), (exp.LT, "high"), (exp.LTE, "high"),
)  # fmt: skip
_FLIPPED = {"low": "high", "high": "low"}
_ALIKE = (exp.EQ, exp.NullSafeEQ)


@dataclass(frozen=True)
class Use:
    """A table in a statement.

    Attributes:
        places: How often the statement names it.
        forms: By column, the form of each place that has a condition on it.
    """

    places: int
    forms: Mapping[str, tuple[Form, ...]]

    def form(self, column: str) -> Form | None:
        """The form that holds at each place of the table; None if one has no condition on it."""
        found = self.forms.get(column, ())
        return max(found, key=FORMS.index) if found and len(found) == self.places else None

    def mentions(self, column: str) -> bool:
        """Whether any condition is on it."""
        return column in self.forms


@dataclass(frozen=True)
class _Side:
    table: str
    place: int
    column: str


def uses(tree: exp.Expr, find: Find) -> dict[str, Use]:
    """The tables that a statement reads, by key, with its conditions on their columns.

    Args:
        tree: The statement.
        find: Resolves the names of tables.

    Raises:
        UnreadableError: If the names of its queries cannot be resolved.
    """
    reader = _Reader(find)
    for scope in scopes(tree):
        reader.read(scope)
    return reader.uses()


class _Reader:
    """Reads one statement."""

    def __init__(self, find: Find) -> None:
        self._find = find
        # With the node: an id may be used again once its node is gone.
        self._places: dict[int, tuple[exp.Table, str]] = {}
        self._found: defaultdict[_Side, set[Form]] = defaultdict(set)
        self._ends: defaultdict[_Side, set[str]] = defaultdict(set)

    def uses(self) -> dict[str, Use]:
        for side, ends in self._ends.items():
            self._found[side].add("range" if len(ends) == 2 else "half")
        by_table: defaultdict[str, defaultdict[str, list[Form]]] = defaultdict(
            lambda: defaultdict(list)
        )
        for side, forms in self._found.items():
            by_table[side.table][side.column].append(min(forms, key=FORMS.index))
        places = [key for _, key in self._places.values()]
        return {
            table: Use(
                places.count(table),
                {column: tuple(forms) for column, forms in by_table[table].items()},
            )
            for table in dict.fromkeys(places)
        }

    def read(self, scope: Scope) -> None:
        """The tables and conditions of one query, without those of its subqueries."""
        for source in scope.sources.values():
            if isinstance(source, exp.Table) and (known := self._table(source)) is not None:
                self._places.setdefault(id(source), (source, known.key))
        for condition in _conditions(scope):
            self._condition(condition, scope)

    def _table(self, source: exp.Table) -> Known | None:
        return self._find(source.db.lower(), source.name.lower())

    def _condition(self, node: exp.Expr, scope: Scope) -> None:
        if isinstance(node, exp.Between):
            self._compare(node.this, (node.args["low"], node.args["high"]), scope, "range")
        elif isinstance(node, exp.In):
            inner = node.args.get("query") or node.args.get("unnest")
            if inner is None:
                self._compare(node.this, tuple(node.expressions), scope, "equality")
            else:
                self._note(node.this, scope, "join")
        elif isinstance(node, _ALIKE):
            self._both(node, scope, "equality", "equality")
        elif (
            end := next((end for kind, end in _SIDES if isinstance(node, kind)), None)
        ) is not None:
            self._both(node, scope, end, _FLIPPED[end])
        else:
            for column in _columns(node):
                self._note(column, scope, "hidden")

    def _both(self, node: exp.Expr, scope: Scope, left: str, right: str) -> None:
        self._compare(node.this, (node.expression,), scope, left)
        self._compare(node.expression, (node.this,), scope, right)

    def _compare(
        self, subject: exp.Expr, values: tuple[exp.Expr, ...], scope: Scope, what: str
    ) -> None:
        """A condition on ``subject``: what it is compared with decides its form."""
        others = [column for value in values for column in _columns(value)]
        bare = subject.unnest()
        if not isinstance(bare, exp.Column):
            for column in _columns(subject):
                self._note(column, scope, "hidden")
        elif others:
            self._note(bare, scope, "join" if self._elsewhere(bare, others, scope) else "hidden")
        elif what in _FLIPPED:
            if (side := self._side(bare, scope)) is not None:
                self._ends[side].add(what)
        else:
            self._note(bare, scope, "range" if what == "range" else "equality")

    def _elsewhere(self, column: exp.Column, others: list[exp.Column], scope: Scope) -> bool:
        """Whether it is compared with columns of other tables only, and as they are."""
        own = self._side(column, scope)
        return all(
            (other := self._side(one, scope)) is None or own is None or other.place != own.place
            for one in others
        )

    def _note(self, subject: exp.Expr, scope: Scope, form: Form) -> None:
        bare = subject.unnest()
        if isinstance(bare, exp.Column) and (side := self._side(bare, scope)) is not None:
            self._found[side].add(form)

    def _side(self, column: exp.Column, scope: Scope) -> _Side | None:
        """The table of a column, in this query or in one around it."""
        name, of, around = column.name.lower(), column.table.lower(), scope
        while around is not None:
            for alias, source in around.sources.items():
                if of and alias.lower() != of:
                    continue
                if not isinstance(source, exp.Table):
                    if of or name in _outputs(source):
                        return None
                    continue
                known = self._table(source)
                if known is not None and name in known.columns:
                    self._places.setdefault(id(source), (source, known.key))
                    return _Side(known.key, id(source), name)
            around = around.parent
        return None


def _outputs(query: Scope) -> set[str]:
    """The columns of a subquery, in lower case."""
    inner = query.expression
    return {one.lower() for one in inner.named_selects} if isinstance(inner, exp.Query) else set()


def _conditions(scope: Scope) -> Iterator[exp.Expr]:
    """The conditions that each row must fulfil; an OR or NOT is one, and hides its columns."""
    query = scope.expression
    for part in (query.args.get("where"), query.args.get("prewhere")):
        if part is not None:
            yield from _all(part.this)
    for join in query.args.get("joins") or []:
        if (on := join.args.get("on")) is not None:
            yield from _all(on)


def _all(node: exp.Expr) -> Iterator[exp.Expr]:
    node = node.unnest()
    if isinstance(node, exp.And):
        yield from _all(node.this)
        yield from _all(node.expression)
    else:
        yield node


def _columns(node: exp.Expr) -> list[exp.Column]:
    """The columns in an expression, without those of subqueries."""
    if isinstance(node, exp.Query | exp.Subquery):
        return []
    found = [node] if isinstance(node, exp.Column) else []
    for child in node.iter_expressions():
        found += _columns(child)
    return found
