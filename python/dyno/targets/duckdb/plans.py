"""Plans of DuckDB."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from dyno.contracts.plans import Node, QueryPlan, render
from dyno.targets.duckdb.connection import DuckdbConnection

_WRAPPERS = {"RESULT_COLLECTOR", "EXPLAIN_ANALYZE"}
_SHOWN = ("Table", "Join Type", "Conditions", "Groups", "Order By", "Filters")
_LONGEST = 160


def explain(session: DuckdbConnection, sql: str, *, analyse: bool) -> QueryPlan:
    """The plan by ``EXPLAIN``; with ``analyse``, runs the query and times every operator."""
    options = "ANALYZE, FORMAT json" if analyse else "FORMAT json"
    found = session.execute(f"EXPLAIN ({options}) {sql.strip().rstrip(';')}").rows[0][1]
    tree = json.loads(found)
    return QueryPlan("\n".join(render(_node(root)) for root in _roots(tree)), tree)


def _roots(tree: Any) -> list[dict[str, Any]]:
    """The root operators, below the totals of an analysed plan and the result collector."""
    found: list[dict[str, Any]] = []
    for item in tree if isinstance(tree, list) else tree.get("operator", tree.get("children", [])):
        found += _roots(item.get("children", [])) if _name(item) in _WRAPPERS else [item]
    return found


def _name(item: dict[str, Any]) -> str:
    # Version 1 uses different names in plans and in profiles.
    name = item.get("name") or item.get("type") or item.get("operator_name")
    return str(name or item.get("operator_type") or "?").strip()


def _node(item: dict[str, Any]) -> Node:
    label = " · ".join([_name(item), *_details(item)])
    return Node(label, [_node(child) for child in item.get("children", [])])


def _details(item: dict[str, Any]) -> Iterator[str]:
    extra = item.get("extra_info")
    extra = extra if isinstance(extra, dict) else {}
    expected = extra.get("Estimated Cardinality")
    if expected is not None:
        yield f"{int(expected):,} rows estimated"
    rows = item.get("intermediate_rows", item.get("operator_cardinality"))
    if rows is not None:
        yield f"{rows:,} rows"
    seconds = item.get("timing", item.get("operator_timing"))
    if seconds is not None:
        yield f"{seconds * 1000:,.3f} ms"
    for key in _SHOWN:
        if key in extra:
            value = extra[key]
            text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
            text = " ".join(text.split())
            yield f"{key.lower()} {text if len(text) <= _LONGEST else text[: _LONGEST - 1] + '…'}"
