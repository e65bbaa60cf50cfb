"""The parameters of a statement, and the column that each belongs to."""

from __future__ import annotations

import contextlib
import logging
import re
from collections.abc import Collection, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from dyno.contracts.advice import TableFacts
from dyno.contracts.captured import Captured
from dyno.workloads.own.draft.constants import (
    STAYS,
    Known,
    LeftOutError,
    harmless,
    parametrised,
    pieces,
    placed,
    require_replaceable,
    tokens_of,
    with_casts,
)
from dyno.workloads.own.draft.values import is_whole

Role = Literal[
    "compared", "assigned", "changed", "inserted", "width", "limit", "interval", "unknown"
]
"""``changed``: the value is added to a column or subtracted from it; ``width``: to a first one."""

LONGEST = 10_000
"""Characters of a statement; a longer one may have been cut off when it was recorded."""
_NUMBERED = re.compile(
    r"""(?P<kept>\b[eE]'(?:[^'\\]|''|\\.)*'|'(?:[^']|'')*'|"[^"]*"|--[^\n]*
    |\$(?P<tag>[A-Za-z_]\w*)?\$.*?\$(?P=tag)\$|\$\$.*?\$\$)
    |\$(?P<number>\d+)(?P<list>\ /\*,\ \.\.\.\ \*/)? | (?P<comment>/\*.*?\*/)""",
    re.DOTALL | re.VERBOSE,
)
"""PostgreSQL's. Since version 18, its counters have a list as ``$1 /*, ... */``."""
_MARKED = re.compile(
    r"""(?P<kept>'(?:[^'\\]|''|\\.)*'|"[^"]*"|`[^`]*`|--[^\n]*|/\*.*?\*/)
    |(?P<list>\bIN\s*\(\s*\.\.\.\s*\))|(?P<mark>\?|\.\.\.)|(?P<call>(?<=\w)\ (?=\())""",
    re.DOTALL | re.IGNORECASE | re.VERBOSE,
)
"""MySQL's. Its digests have ``COUNT ( * )``, which the server refuses as a statement."""
_OWN = re.compile(r"p[0-9]+")
_COMPARISONS = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Like, exp.ILike)
_REPLACE = re.compile(r"\A((?:\s|/\*.*?\*/)*)(replace)\b", re.DOTALL | re.IGNORECASE)
_UNREADABLE = "its text cannot be parsed"
_HIDDEN = "the server's counters hide how many values its lists have; capture from its log instead"
_FOR_APPLICATIONS = ("pg_advisory_", "pg_try_advisory_", "pg_notify", "pg_sleep")
"""Functions whose names look like those of the server's own."""
_PERIODS = (exp.Interval, exp.DateAdd, exp.DateSub)
_AROUND = (exp.Paren, exp.Cast, exp.Neg, exp.Add, exp.Sub, exp.Tuple, exp.Array, exp.Any)


@dataclass(frozen=True)
class Parameter:
    """A parameter.

    Attributes:
        name: Its name in the tree: ``p1``, ``p2`` …
        role: What its value does.
        table: The table of its column, as the catalog names it; empty if unknown.
        column: Its column; empty if unknown.
        value: Its value in an example; None if unknown.
        listed: Whether it stands for a list of values.
    """

    name: str
    role: Role
    table: str = ""
    column: str = ""
    value: Known = None
    listed: bool = False


@dataclass(frozen=True)
class Read:
    """A statement, and its parameters in their order.

    Attributes:
        text: As the server has it, with NUL, ``p1`` and NUL for each parameter.
        parameters: The parameters.
    """

    text: str
    parameters: tuple[Parameter, ...]


def of_counted(text: str, server: Captured, tables: Mapping[str, TableFacts]) -> Read:
    """Reads a statement as a server counts it, with ``$1`` or ``?`` for its literals.

    Args:
        text: The statement.
        server: Whose statement it is.
        tables: Those of the database by name without schema, in lower case; with it where several
            schemas have one.

    Raises:
        LeftOutError: If it cannot be read.
    """
    if len(text) >= LONGEST or text.rstrip().endswith("..."):
        raise LeftOutError("its text is cut off")
    count = 0
    lists = {f"p{found['number']}" for found in _NUMBERED.finditer(text) if found["list"]}

    def marked(found: re.Match[str]) -> str:
        nonlocal count
        if found["kept"] is not None:
            return found["kept"]
        if found["call"]:
            return ""
        if found["mark"] == "...":
            raise LeftOutError(_HIDDEN)
        count += 1
        if found["list"]:
            lists.add(f"p{count}")
            return f"IN (:p{count})"
        return f":p{count}"

    numbered = server.numbered
    named = with_casts(_NUMBERED.sub(_named, text)) if numbered else _MARKED.sub(marked, text)
    return _read(named, {}, server, tables, lists)


def of_example(
    sql: str,
    values: Sequence[str | None] | None,
    server: Captured,
    tables: Mapping[str, TableFacts],
) -> Read:
    """Reads a statement with its values, as a log has it.

    Args:
        sql: The statement.
        values: Those of ``$1``, ``$2`` …; None if it has literals only.
        server: Whose statement it is.
        tables: As for :func:`of_counted`.

    Raises:
        LeftOutError: If it cannot be read.
    """
    known: dict[str, Known] = {}
    if values is not None:
        sql = _NUMBERED.sub(_named, sql)
        known = {f"p{place}": value for place, value in enumerate(values, start=1)}
    return _read(sql, known, server, tables)


def _named(found: re.Match[str]) -> str:
    # The spaces keep the slice ``a[$1:$2]`` from becoming a cast.
    return found["kept"] or found["comment"] or f" :p{found['number']} "


def tables_in(text: str, server: Captured) -> set[str]:
    """Names of the tables of a statement, without schema; empty if it cannot be read."""
    if server.numbered:
        text = _NUMBERED.sub(_named, text)
    try:
        tree = _parsed(_REPLACE.sub(r"\1insert", text), server.grammar)
    except LeftOutError:
        return set()
    names = {one.name for one in tree.find_all(exp.Table)}
    return names | {name.lower() for name in names}


def _parsed(sql: str, grammar: str) -> exp.Expr:
    try:
        with _quiet():
            found = sqlglot.parse(sql, read=grammar)
    except (SqlglotError, RecursionError, ValueError, AttributeError, TypeError) as error:
        raise LeftOutError(_UNREADABLE) from error
    if len(found) != 1 or found[0] is None:
        raise LeftOutError("it is not one statement")
    tree = found[0]
    if not isinstance(tree, exp.Query | exp.Insert | exp.Update | exp.Delete | exp.Merge):
        raise LeftOutError("it is not a query or a change of rows")
    return tree


@contextlib.contextmanager
def _quiet() -> Generator[None]:
    logger = logging.getLogger("sqlglot")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(level)


def _spelled(tree: exp.Expr, tables: Mapping[str, TableFacts], server: Captured) -> dict[int, str]:
    """Names of tables as the catalog spells them, by where they are in the text.

    MySQL counts a table named like one of its words, such as ``exchange``, in capitals and without
    quotation marks; it would not find that table where names of tables depend on case.
    """
    spelled: dict[str, str] = {}
    found: dict[int, str] = {}

    def spell(name: object) -> None:
        if isinstance(name, exp.Identifier) and name.name in spelled and "start" in name.meta:
            found[name.meta["start"]] = spelled[name.name]

    for table in tree.find_all(exp.Table):
        facts, name = tables.get(table.name.lower()), table.this
        if facts is None or not isinstance(name, exp.Identifier) or name.args.get("quoted"):
            continue
        own = table_name(facts)
        if own != table.name:
            spelled[table.name] = exp.to_identifier(own, quoted=True).sql(dialect=server.grammar)
            spell(name)
    for column in tree.find_all(exp.Column):
        spell(column.args.get("table"))
    return found


def table_name(table: TableFacts) -> str:
    """The name of a table without its schema."""
    return table.name.rpartition(".")[2].strip('"`[]')


def schema_name(table: TableFacts) -> str:
    """The name of a table's schema; empty if it has none."""
    return table.name.rpartition(".")[0].rpartition(".")[2].strip('"`[]')


def _read(
    text: str,
    known: dict[str, Known],
    server: Captured,
    tables: Mapping[str, TableFacts],
    lists: Collection[str] = (),
) -> Read:
    # The parser does not know REPLACE.
    replaces = _REPLACE.match(text)
    text, tree = _with_parameters(_REPLACE.sub(r"\1insert", text), known, server)
    if any(one.name.lower() == "set_config" for one in tree.find_all(exp.Anonymous)):
        raise LeftOutError("it changes settings of its session")
    names = list(tree.find_all(exp.Table))
    if all(_is_system(one, server) for one in names) and (names or _administers(tree)):
        raise LeftOutError("it reads the server's own tables, or administers the server")
    if tree.find(exp.Into) is not None:
        raise LeftOutError("it creates a table or writes a file")
    require_replaceable(tree, server)
    widths = _widths(tree, known, tables)
    arrays = _arrays(tree, known)
    found: dict[str, Parameter] = {}
    shown: dict[str, str] = {}
    for place in tree.find_all(exp.Placeholder):
        name = str(place.this)
        alone = "width" if name in widths else _role_alone(place)
        role, column = (alone, None) if alone else _role(place, tree, tables)
        table = "" if column is None else _table_of(column, tree, tables)
        made = Parameter(
            name,
            role if alone or table else "unknown",
            table,
            "" if column is None or not table else column.name,
            known.get(name),
            name in lists or name in arrays,
        )
        if name not in found or found[name].role == "unknown":
            found[name] = made
        shown[name] = _shown(place, widths, arrays)
    ordered = sorted(found.values(), key=lambda one: int(one.name[1:]))
    spelled = {} if server.numbered else _spelled(tree, tables, server)
    if replaces is not None:
        spelled[replaces.end(1)] = replaces[2]
    return Read(_written(text, server, shown, spelled), tuple(ordered))


def _with_parameters(text: str, known: dict[str, Known], server: Captured) -> tuple[str, exp.Expr]:
    """The text with a parameter for each constant, after those that are there, and its tree."""
    tree = _parsed(text, server.grammar)
    there = [str(one.this) for one in tree.find_all(exp.Placeholder)]
    if not all(_OWN.fullmatch(name) for name in there):
        raise LeftOutError(_UNREADABLE)
    last = max((int(name[1:]) for name in there), default=0)
    text, more = parametrised(text, harmless(tree), server, last + 1)
    if not more:
        return text, tree
    known.update(more)
    try:
        return text, _parsed(text, server.grammar)
    except LeftOutError as error:
        raise LeftOutError(STAYS) from error


def _shown(place: exp.Expr, widths: Mapping[str, str], arrays: Collection[str]) -> str:
    """A parameter in the text."""
    name = str(place.this)
    mark = f"\0{name}\0"
    if name in widths:
        return f"\0{widths[name]}\0 + {mark}"
    if name in arrays:
        return f"ARRAY[{mark}]"
    # Not ``a[:low::high]``, which is a cast, nor ``a[:column]``, which is a parameter.
    return f"({mark})" if place.find_ancestor(exp.Slice) is not None else mark


def _written(
    text: str, server: Captured, shown: Mapping[str, str], spelled: Mapping[int, str]
) -> str:
    """The text with its parameters, without comments."""
    made: list[str] = []
    there: set[str] = set()
    tokens = tokens_of(text, server.grammar)
    for at, (token, space) in enumerate(pieces(text, tokens)):
        own = spelled.get(token.start, text[token.start : token.end + 1])
        before = tokens[at - 1]
        if before.text == ":" and token.text in shown and before.end + 1 == token.start:
            made[-2:] = []
            own = placed(shown[token.text], tokens[at - 2], server)
            there.add(token.text)
        made += [space, own]
        # What follows would be a parameter: ``a[1:width]``.
        made += " " * (own == ":" and text[token.end + 1 : token.end + 2].isidentifier())
    if there != set(shown):
        raise LeftOutError(STAYS)
    found = "".join(made)
    # A server looks for a hint after the first word, too.
    return re.sub(r"\A(/\*.*\*/)(\w+)", r"\2 \1", found, flags=re.DOTALL)


def _widths(
    tree: exp.Expr, known: dict[str, Known], tables: Mapping[str, TableFacts]
) -> dict[str, str]:
    """Upper bounds of BETWEEN that are written as the lower bound and a width, with that bound.

    Two bounds that are drawn apart would be a range of any length, or an empty one.
    """
    widths: dict[str, str] = {}
    for between in tree.find_all(exp.Between):
        low, high = between.args["low"], between.args["high"]
        column = _column(between.this)
        if not isinstance(low, exp.Placeholder) or not isinstance(high, exp.Placeholder):
            continue
        if column is None or low.this == high.this or str(low.this) in widths:
            continue
        table = _table_of(column, tree, tables)
        if not table or not is_whole(tables[table], column.name):
            continue
        name = str(high.this)
        known[name] = _difference(known.get(name), known.get(str(low.this)))
        widths[name] = str(low.this)
    return widths


def _arrays(tree: exp.Expr, known: dict[str, Known]) -> set[str]:
    """Names of ``= ANY(:p1)``, which is written as an array with one value."""
    names: set[str] = set()
    for around in tree.find_all(exp.Any):
        inner = around.this.unnest()
        place = inner.this if isinstance(inner, exp.Cast) else inner
        if isinstance(place, exp.Placeholder):
            names.add(str(place.this))
            known.pop(str(place.this), None)
    return names


def _difference(high: Known, low: Known) -> Known:
    if high is None or low is None:
        return None
    try:
        return int(high) - int(low)
    except ValueError:
        return None


def _is_system(table: exp.Table, server: Captured) -> bool:
    if isinstance(table.this, exp.Func):
        return table.this.name.lower().startswith("pg_")
    return table.db.lower() in server.system or table.name.lower().startswith("pg_")


def _administers(tree: exp.Expr) -> bool:
    """Whether it calls a function of the server itself, such as one that resets counters."""
    return any(
        name.startswith("pg_") and not name.startswith(_FOR_APPLICATIONS)
        for one in tree.find_all(exp.Anonymous)
        for name in [one.name.lower()]
    )


def _role_alone(place: exp.Expr) -> Role | None:
    """What a placeholder does that belongs to no column, if its place shows it."""
    if place.find_ancestor(exp.Limit, exp.Offset, exp.Fetch) is not None:
        return "limit"
    cast = isinstance(place.parent, exp.Cast) and place.parent.is_type("interval")
    return "interval" if cast or isinstance(place.parent, _PERIODS) else None


def _role(
    place: exp.Expr, tree: exp.Expr, tables: Mapping[str, TableFacts]
) -> tuple[Role, exp.Column | None]:
    """What a placeholder does, and the column beside it."""
    below: exp.Expr = place
    above = place.parent
    while above is not None:
        if isinstance(above, exp.Values | exp.Insert) and isinstance(tree, exp.Insert):
            return "inserted", _inserted(place, tree, tables)
        if isinstance(above, _COMPARISONS):
            other = above.right if above.left is below else above.left
            if (
                isinstance(above.parent, exp.Update | exp.OnConflict)
                and above.arg_key == "expressions"
            ):
                return _assigned(above.left, below)
            return "compared", _column(other)
        if isinstance(above, exp.In | exp.Between):
            return "compared", _column(above.this)
        if not isinstance(above, _AROUND):
            break
        below, above = above, above.parent
    return "unknown", None


def _assigned(column: exp.Expr, value: exp.Expr) -> tuple[Role, exp.Column | None]:
    """What a placeholder in the new value of a column does."""
    if not isinstance(column, exp.Column):
        return "assigned", None
    own = any(one.name.lower() == column.name.lower() for one in value.find_all(exp.Column))
    return "changed" if own else "assigned", column


def _column(beside: exp.Expr) -> exp.Column | None:
    while isinstance(beside, exp.Paren | exp.Cast):
        beside = beside.this
    return beside if isinstance(beside, exp.Column) else None


def _inserted(
    place: exp.Expr, tree: exp.Insert, tables: Mapping[str, TableFacts]
) -> exp.Column | None:
    """The column that a value of VALUES goes into."""
    row = place.find_ancestor(exp.Tuple)
    target = tree.this
    if isinstance(target, exp.Schema):
        columns = [one.name for one in target.expressions]
    else:  # all columns, in their order
        facts = tables.get(_key(target, tables)) if isinstance(target, exp.Table) else None
        columns = [] if facts is None else [one.name for one in facts.columns]
    if row is None:
        return None
    for number, value in enumerate(row.expressions):
        if value is place and number < len(columns):
            return exp.column(columns[number])
    return None


def _table_of(column: exp.Column, tree: exp.Expr, tables: Mapping[str, TableFacts]) -> str:
    """The table of a column: by its qualifier, else the only one that has such a column."""
    near = column.find_ancestor(exp.Query, exp.Update, exp.Delete, exp.Insert) or tree
    named = {
        (one.alias or one.name).lower(): _key(one, tables)
        for one in [*tree.find_all(exp.Table), *near.find_all(exp.Table)]
    }
    if column.table:
        return _known(named.get(column.table.lower(), ""), column, tables)
    for scope in (near, tree):
        found = {
            known
            for one in scope.find_all(exp.Table)
            if (known := _known(_key(one, tables), column, tables))
        }
        if len(found) == 1:
            return found.pop()
    return ""


def _key(table: exp.Table, tables: Mapping[str, TableFacts]) -> str:
    """The name of a table among ``tables``: with its schema if several have one of that name."""
    name = table.name.lower()
    whole = f"{table.db.lower()}.{name}"
    return whole if whole in tables else name


def _known(name: str, column: exp.Column, tables: Mapping[str, TableFacts]) -> str:
    facts = tables.get(name)
    has = facts is not None and any(
        one.name.lower() == column.name.lower() for one in facts.columns
    )
    return name if has else ""
