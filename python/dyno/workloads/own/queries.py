"""Queries for decision support: their text, their parameters, and their order in a stream."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Any

from dyno.contracts import workload as contract
from dyno.contracts.rule import Rows
from dyno.contracts.target import Texts
from dyno.errors import UsageError
from dyno.safety.redaction import is_secret
from dyno.workloads.own import checks, sql
from dyno.workloads.own.fields import span
from dyno.workloads.own.forms import Query, chosen
from dyno.workloads.own.planned import REST, Planner, first_of
from dyno.workloads.own.queryreview import parsed
from dyno.workloads.own.spec import Draw, File
from dyno.workloads.own.types import Kind

FIXED_SEED = 0
"""Of the values in power tests, which are the same in every run."""
_UNRECORDED = ("query", "csv")
Value = int | str | Decimal | None
_PLAIN = Texts()


@dataclass(frozen=True)
class Text:
    """The texts of a query by target; the one without a target is for all others."""

    name: str
    texts: Mapping[str, sql.Parsed]

    def __call__(self, values: Mapping[str, Any], target: str, texts: Texts) -> str:
        """The statement for a target with values; see :class:`contract.Query`.

        Raises:
            UsageError: If there is none for this target.
        """
        found = chosen(self.texts, target)
        if found is None and not target:  # for readers that have no target, any of them
            found = next(iter(self.texts.values()))
        if found is None:
            raise UsageError(f"queries.{self.name} has no SQL for {target}.")
        return found.filled([literal(values[name], texts) for name in found.names])


def literal(value: Value, texts: Texts = _PLAIN) -> str:
    """A value as SQL; a negative number in parentheses, because ``1--1`` begins a comment.

    Args:
        value: The value.
        texts: How texts begin.
    """
    if value is None:
        return "NULL"
    if isinstance(value, str):
        text = value.replace("'", "''")
        if texts.escaped and "\\" in text:
            text = text.replace("\\", "\\\\")
            return f"{texts.escaped}{text}'"
        # Others stay plain: a national text keeps the server from using an index of plain ones.
        return f"{'' if text.isascii() else texts.national}'{text}'"
    number = f"{value:f}" if isinstance(value, Decimal) else str(value)
    return f"({number})" if number.startswith("-") else number


def made(file: File, planner: Planner) -> tuple[contract.Query, ...]:
    """The queries of a file."""
    return tuple(_made(query, file, planner) for query in file.queries)


def taken(file: File) -> list[str]:
    """The draws that its queries take."""
    names = (name for query in file.queries for text in parsed(query).values()
             for name in text.names)  # fmt: skip
    return list(dict.fromkeys(names))


def _made(query: Query, file: File, planner: Planner) -> contract.Query:
    texts = parsed(query)
    names = tuple(dict.fromkeys(name for text in texts.values() for name in text.names))
    least, most = (0, None) if query.rows is None else span(query.rows)
    drawing = partial(drawn, planner, query.name, names)
    fixed = {name: _fixed(value, file.draws[name]) for name, value in query.values.items()}

    def validation(scale: float) -> dict[str, Any]:
        return drawing(FIXED_SEED, scale) | fixed

    return contract.Query(
        name=query.name,
        title=query.title,
        sql=query.sql or "",
        rules=(),
        defaults={},
        draw=drawing,
        scaled=validation,
        written=Text(query.name, texts),
        least=least,
        most=most,
        weight=query.weight,
        unrecorded=frozenset(
            name for name in names if file.draws[name].way in _UNRECORDED or is_secret(name)
        ),
    )


def _fixed(value: int | str, draw: Draw) -> Value:
    return Decimal(value) if (draw.type or "").startswith("decimal") else value


def drawn(
    planner: Planner, query: str, names: Sequence[str], seed: int, scale: float
) -> dict[str, Any]:
    """Values of a query's parameters for a seed, drawn by the driver."""
    if not names:
        return {}
    inputs, pools = planner.inputs(names, scale)
    plain = [_indexed(one, pools) for one in inputs]
    marks = ", ".join(f"${number}" for number in range(1, len(names) + 1))
    step = {"name": query, "sql": f"select {marks}", "given": list(names), "returns": [REST]}
    operation = {"name": query, "weight": 1, "inputs": plain, "steps": [step]}
    script = {"name": f"{planner.name}.{query}", "operations": [operation]}
    (found,) = first_of(script, seed, 1)
    values = dict(found["values"])
    return {one["name"]: _value(values[one["name"]], one, pools) for one in inputs}


def _indexed(one: dict[str, Any], pools: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
    """The input with the place in a list in place of the list, which may be long."""
    pool = one["draw"].get("pool")
    if pool is None:
        return one
    place = {"uniform": {"least": 0, "greatest": len(pools[pool]) - 1}}
    return {**one, "draw": place, "kind": "int"}


def _value(value: int | str, one: Mapping[str, Any], pools: Mapping[str, Sequence[Any]]) -> Value:
    pool, kind = one["draw"].get("pool"), one["kind"]
    found = pools[pool][int(value)] if pool is not None else value
    return of_units(found, kind)


def of_units(value: int | str | None, kind: Kind) -> Value:
    """A drawn value; a decimal is an integer of units until here."""
    if isinstance(kind, dict) and isinstance(value, int):
        return Decimal(value).scaleb(-kind["decimal"])
    return value


def order_of(file: File) -> Callable[[int, int], Sequence[str]]:
    """The order of a stream: the file's in a power test, else a random one of its seed."""
    names = [query.name for query in file.queries]
    weighed = [query.name for query in file.queries for _ in range(query.weight)]

    def order(stream: int, seed: int) -> Sequence[str]:
        from dyno.runtime.seeds import derived

        if stream == 0:
            return names
        shuffled = list(weighed)
        random.Random(derived(seed, str(file.name), stream, "order")).shuffle(shuffled)  # noqa: S311
        return shuffled

    return order


def answers_of(file: File) -> dict[str, tuple[float, Rows]]:
    """The stated answer of each query that has one, with its scale."""
    return {
        query.name: (query.scale, checks.cells(query.answer))
        for query in file.queries
        if isinstance(query.answer, list)
    }


def unproven(file: File, scale: float) -> str:
    """Why answers cannot be verified at a scale; empty if some are."""
    known = {at for at, _ in answers_of(file).values()}
    if scale in known or any(query.rows is not None for query in file.queries):
        return ""
    if known:
        scales = " and ".join(f"{one:g}" for one in sorted(known))
        return f"the file states answers for scale {scales}; this is {scale:g}"
    return "the file states no rows and no answers"
