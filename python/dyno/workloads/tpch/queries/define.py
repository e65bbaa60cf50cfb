"""Defines a query of this workload: columns with their rules, and row order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dyno.contracts.rule import Rule
from dyno.contracts.workload import Query
from dyno.workloads.tpch.queries.pick import Picker


def define(
    number: int,
    title: str,
    *,
    sql: str,
    columns: Mapping[str, Rule],
    order_by: Sequence[str] = (),
    defaults: Mapping[str, Any],
    draw: Callable[[Picker, float], dict[str, Any]],
    scaled: Callable[[float], dict[str, Any]] = lambda _scale: {},
) -> Query:
    """Builds query ``number`` from its result columns (names and rules) and its other parts.

    ``draw`` returns substitution parameters for a picker and the scale factor. The picker's seed
    includes the query's name, so that the queries of one stream vary independently.
    """
    name = f"q{number:02}"
    return Query(
        name=name,
        title=title,
        sql=sql.strip(),
        rules=tuple(columns.values()),
        defaults=dict(defaults),
        draw=lambda seed, scale: draw(Picker(f"{name}/{seed}"), scale),
        columns=tuple(columns),
        order_by=tuple(order_by),
        scaled=scaled,
    )
