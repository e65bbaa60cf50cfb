"""Predicates of a statement: by which columns it selects rows of each table, and how.

Only conditions that every row must fulfil select rows: the parts of an AND in WHERE and ON. An OR,
a negation or a function hides its columns. ON of an outer join filters its optional side only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, Literal, Protocol, TypeVar

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from dyno.decide.advise.statements import VALUE, scopes

Kind = Literal["equality", "in", "range", "low", "high", "prefix", "join", "theta", "hidden"]
"""``equality``: with a value. ``in``: with a list of values. ``range``: BETWEEN two values.
``low``, ``high``: above, below a value. ``prefix``: LIKE with a fixed beginning. ``join``: equal to
a column elsewhere, or IN a subquery. ``theta``: a column elsewhere with another comparison.
``hidden``: no engine can search by it."""
VALUES: tuple[Kind, ...] = ("equality", "in")
ORDERED: tuple[Kind, ...] = ("range", "low", "high", "prefix")


class Named(Protocol):
    """A table with the names of its columns."""

    @property
    def columns(self) -> Iterable[str]:
        """In the spelling that predicates shall have."""
        ...


T = TypeVar("T", bound=Named)
Find = Callable[[str, str], T | None]
"""The table of a schema (empty if none is named) and a name, both in lower case."""


@dataclass(frozen=True)
class Predicate:
    """A condition on a column.

    Attributes:
        other: Of a join: the alias of the other table; empty for a subquery.
    """

    column: str
    kind: Kind
    other: str = ""


@dataclass(frozen=True)
class Place(Generic[T]):
    """One of the places where a statement reads a table."""

    table: T
    predicates: tuple[Predicate, ...] = ()

    def columns(self, *kinds: Kind) -> set[str]:
        """Columns with a predicate of one of these kinds."""
        return {one.column for one in self.predicates if one.kind in kinds}

    @property
    def joined(self) -> dict[str, set[str]]:
        """Columns that are equal to one elsewhere, by the alias of the other table."""
        found: dict[str, set[str]] = {}
        for one in self.predicates:
            if one.kind == "join":
                found.setdefault(one.other, set()).add(one.column)
        return found


def places(tree: exp.Expr, find: Find[T]) -> list[Place[T]]:
    """The places of a statement, inner queries first.

    Args:
        tree: The statement.
        find: Resolves the names of tables.

    Raises:
        UnreadableError: If the names of its queries cannot be resolved.
    """
    return _Reader(tree, find).places()


class _Source(Generic[T]):
    """A place while it is read."""

    def __init__(self, node: exp.Table, table: T, alias: str) -> None:
        self.node, self.table, self.alias = node, table, alias
        self.spelt = {name.lower(): name for name in table.columns}
        self.found: dict[Predicate, None] = {}  # in the order of the statement


class _Reader(Generic[T]):
    """Reads one statement."""

    def __init__(self, tree: exp.Expr, find: Find[T]) -> None:
        self._find = find
        self._scopes = list(scopes(tree))
        self._of_query = {id(one.expression): one for one in self._scopes}
        self._sources: dict[int, _Source[T] | None] = {}
        # sqlglot makes no scope of WITH x AS (DELETE …), so that x looks like a table.
        self._changed = {
            one.alias.lower() for one in tree.find_all(exp.CTE) if isinstance(one.this, _CHANGES)
        }

    def places(self) -> list[Place[T]]:
        for scope in self._scopes:
            for alias, node in scope.sources.items():
                if isinstance(node, exp.Table):
                    self._source(node, alias)
        for scope in self._scopes:
            for condition, filters in self._conditions(scope):
                for source, predicate in self._read(condition, scope):
                    if filters(source.alias):
                        source.found[predicate] = None
        return [Place(one.table, tuple(one.found)) for one in self._sources.values() if one]

    def _source(self, node: exp.Table, alias: str) -> _Source[T] | None:
        if id(node) not in self._sources:
            name = node.name.lower()
            hidden = not node.db and name in self._changed
            table = None if hidden else self._find(node.db.lower(), name)
            self._sources[id(node)] = None if table is None else _Source(node, table, alias)
        return self._sources[id(node)]

    def _conditions(self, scope: Scope) -> Iterator[tuple[exp.Expr, Callable[[str], bool]]]:
        """The conditions of one query, and whether they filter the rows of an alias."""
        for part in (scope.expression.args.get("where"), scope.expression.args.get("prewhere")):
            if part is not None:
                for one in _all(part.this):
                    yield one, lambda _: True
        for join in scope.find_all(exp.Join):
            on = join.args.get("on")
            for one in self._using(join, scope) if on is None else _all(on):
                yield one, lambda alias, join=join: _filters(join, alias)

    def _using(self, join: exp.Join, scope: Scope) -> Iterator[exp.Expr]:
        """USING as ON, with each other table that has the column."""
        for name in join.args.get("using") or ():
            joined = exp.column(name.copy(), join.alias_or_name)
            for alias in scope.sources:
                other = exp.column(name.copy(), alias)
                if alias != join.alias_or_name and self._owner(other, scope) is not None:
                    yield exp.EQ(this=joined.copy(), expression=other)

    def _read(self, node: exp.Expr, scope: Scope) -> Iterator[tuple[_Source[T], Predicate]]:
        """The predicates of one condition."""
        left, right = node.args.get("this"), node.args.get("expression")
        if isinstance(node, exp.Between):
            yield from self._compare(
                node.this, (node.args["low"], node.args["high"]), scope, "range"
            )
        elif isinstance(node, exp.In):
            inner = node.args.get("query") or node.args.get("unnest")
            values = node.expressions if inner is None else [inner]
            yield from self._compare(node.this, values, scope, "in" if inner is None else "join")
        elif isinstance(node, exp.Like) and _begins(right) and not node.args.get("negate"):
            yield from self._compare(node.this, (), scope, "prefix")
        elif type(node) in _COMPARED and isinstance(left, exp.Expr) and isinstance(right, exp.Expr):
            of_left, of_right = _COMPARED[type(node)]
            yield from self._compare(left, (right,), scope, of_left)
            yield from self._compare(right, (left,), scope, of_right)
        else:
            yield from self._hidden(node, scope)

    def _compare(
        self, subject: exp.Expr, values: Sequence[exp.Expr], scope: Scope, kind: Kind
    ) -> Iterator[tuple[_Source[T], Predicate]]:
        """A condition on ``subject``: what it is compared with decides its kind."""
        column = subject.unnest()
        if not isinstance(column, exp.Column):
            yield from self._hidden(subject, scope)
            return
        own = self._owner(column, scope)
        if own is None:
            return
        other = ""
        if any(isinstance(one, exp.Any) and one.find(exp.Query) for one in values):
            kind = "join"
        if kind != "join":
            others = list(self._others(values, scope))
            if any(source is own for source, _ in others):
                kind = "hidden"
            elif others:
                kind, other = "join" if kind in VALUES else "theta", others[0][1]
        yield own, Predicate(own.spelt[column.name.lower()], kind, other)

    def _others(
        self, values: Sequence[exp.Expr], scope: Scope
    ) -> Iterator[tuple[_Source[T] | None, str]]:
        """The columns that a value depends on: its own, and those that a subquery correlates."""
        for column in (column for value in values for column in value.find_all(exp.Column)):
            within = self._of_query.get(id(column.find_ancestor(exp.Select)), scope)
            found = self._owner(column, within)
            if within is scope:
                yield found, column.table if found is None else found.alias
            elif found is not None and any(
                node is found.node for one in _around(scope) for node in one.sources.values()
            ):
                yield found, found.alias

    def _hidden(self, node: exp.Expr, scope: Scope) -> Iterator[tuple[_Source[T], Predicate]]:
        for column in _columns(node):
            if (own := self._owner(column, scope)) is not None:
                yield own, Predicate(own.spelt[column.name.lower()], "hidden")

    def _owner(self, column: exp.Column, scope: Scope) -> _Source[T] | None:
        """The table of a column, in this query or in one around it."""
        name, of = column.name.lower(), column.table.lower()
        for around in _around(scope):
            for alias, node in around.sources.items():
                if of and alias.lower() != of:
                    continue
                if not isinstance(node, exp.Table):
                    if of or name in _outputs(node):
                        return None
                elif (found := self._source(node, alias)) is not None and name in found.spelt:
                    return found
        return None


_CHANGES = (exp.Insert, exp.Update, exp.Delete)
_COMPARED: dict[type[exp.Expr], tuple[Kind, Kind]] = {
    exp.EQ: ("equality", "equality"),
    exp.NullSafeEQ: ("equality", "equality"),
    exp.GT: ("low", "high"),
    exp.GTE: ("low", "high"),
    exp.LT: ("high", "low"),
    exp.LTE: ("high", "low"),
}
"""What a comparison is for its left and its right side."""


def _around(scope: Scope | None) -> Iterator[Scope]:
    while scope is not None:
        yield scope
        scope = scope.parent


def _outputs(query: Scope) -> set[str]:
    """The columns of a subquery, in lower case."""
    inner = query.expression
    return {one.lower() for one in inner.named_selects} if isinstance(inner, exp.Query) else set()


def _filters(join: exp.Join, alias: str) -> bool:
    joined = alias == join.alias_or_name
    return {"LEFT": joined, "RIGHT": not joined, "FULL": False}.get(join.side, True)


def _all(node: exp.Expr) -> Iterator[exp.Expr]:
    node = node.unnest()
    if isinstance(node, exp.And):
        yield from _all(node.this)
        yield from _all(node.expression)
    else:
        yield node


def _begins(pattern: object) -> bool:
    """Whether a pattern of LIKE is known and begins with a letter that it fixes."""
    text = str(pattern.this) if isinstance(pattern, exp.Literal) else ""
    return text != VALUE and not text.startswith(("%", "_")) and text != ""


def _columns(node: exp.Expr) -> list[exp.Column]:
    """The columns in an expression, without those of subqueries."""
    if isinstance(node, exp.Query):
        return []
    found = [node] if isinstance(node, exp.Column) else []
    for child in node.iter_expressions():
        found += _columns(child)
    return found
