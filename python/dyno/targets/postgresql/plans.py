"""Plans of PostgreSQL."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from dyno.contracts.plans import Node, QueryPlan, render
from dyno.contracts.target import QueryResult
from dyno.targets.postgresql.connection import PostgresConnection

_NAMES = ("Index Name", "Relation Name", "CTE Name", "Function Name")
_CONDITIONS = ("Hash Cond", "Merge Cond", "Index Cond", "Join Filter", "Filter", "Sort Key")
_LONGEST = 160


def explain(session: PostgresConnection, sql: str, *, analyse: bool) -> QueryPlan:
    """The plan by ``EXPLAIN``; with ``analyse``, runs the query and counts its buffers."""
    options = "ANALYZE, BUFFERS, SETTINGS, FORMAT JSON" if analyse else "SETTINGS, FORMAT JSON"
    return shown(session.execute(f"EXPLAIN ({options}) {sql.strip().rstrip(';')}"))


def shown(answer: QueryResult) -> QueryPlan:
    """The plan in the answer to an ``EXPLAIN`` in JSON."""
    found = answer.rows[0][0]
    tree = json.loads(found) if isinstance(found, str) else found
    return QueryPlan(render(_node(tree[0]["Plan"])), tree)


def _node(plan: dict[str, Any]) -> Node:
    label = " · ".join([_title(plan), *_details(plan)])
    return Node(label, [_node(item) for item in plan.get("Plans", [])])


def _title(plan: dict[str, Any]) -> str:
    words = [
        "Parallel" if plan.get("Parallel Aware") else "",
        plan.get("Partial Mode", "") if plan.get("Partial Mode") != "Simple" else "",
        "" if plan.get("Join Type", "Inner") == "Inner" else plan["Join Type"],
        plan["Node Type"],
        *(f"on {plan[name]}" for name in _NAMES if name in plan),
    ]
    return " ".join(str(word) for word in words if word)


def _details(plan: dict[str, Any]) -> Iterator[str]:
    yield f"cost {plan.get('Total Cost', 0):,.0f}"
    yield f"{plan.get('Plan Rows', 0):,} rows estimated"
    if "Actual Rows" in plan:
        loops = plan.get("Actual Loops", 1)
        yield f"{plan['Actual Rows']:,.10g} rows" + (f" × {loops:,}" if loops != 1 else "")
        if "Actual Total Time" in plan:
            yield f"{plan['Actual Total Time']:,.3f} ms"
    for key, words in (
        ("Workers Launched", "workers"),
        ("Shared Read Blocks", "blocks read"),
        ("Temp Written Blocks", "temporary blocks written"),
    ):
        if plan.get(key):
            yield f"{plan[key]:,} {words}"
    for key in _CONDITIONS:
        if key in plan:
            value = plan[key]
            text = ", ".join(value) if isinstance(value, list) else str(value)
            yield f"{key.lower()} {text if len(text) <= _LONGEST else text[: _LONGEST - 1] + '…'}"
