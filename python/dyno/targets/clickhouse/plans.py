"""Plans of ClickHouse."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from dyno.contracts.plans import Node, QueryPlan, render
from dyno.targets.clickhouse.connection import ClickhouseConnection


def explain(session: ClickhouseConnection, sql: str, *, analyse: bool) -> QueryPlan:
    """The plan by ``EXPLAIN PLAN``, with its pipeline and the expected reads.

    With ``analyse``, runs ``EXPLAIN ANALYZE`` and returns its text.
    """
    query = sql.strip().rstrip(";")
    plan = json.loads(_text(session, f"EXPLAIN PLAN json = 1, indexes = 1 {query}"))
    reads = [
        {"table": f"{place}.{table}", "parts": parts, "rows": rows, "granules": granules}
        for place, table, parts, rows, granules in session.execute(f"EXPLAIN ESTIMATE {query}").rows
    ]
    tree: dict[str, Any] = {
        "plan": plan,
        "pipeline": _text(session, f"EXPLAIN PIPELINE {query}").splitlines(),
        "reads": reads,
    }
    if analyse:
        text = _text(session, f"EXPLAIN ANALYZE {query}")
        return QueryPlan(text, {**tree, "analysed": text.splitlines()})
    roots = "\n".join(render(_node(root["Plan"])) for root in plan)
    expected = (f"{read['table']}: {read['rows']:,} rows estimated" for read in reads)
    return QueryPlan("\n".join([roots, *expected]), tree)


def _text(session: ClickhouseConnection, statement: str) -> str:
    return "\n".join(str(line) for (line,) in session.execute(statement).rows)


def _node(item: dict[str, Any]) -> Node:
    label = " · ".join([str(item.get("Node Type", "?")), *_details(item)])
    return Node(label, [_node(child) for child in item.get("Plans", [])])


def _details(item: dict[str, Any]) -> Iterator[str]:
    if described := item.get("Description"):
        yield str(described)
    if used := item.get("Indexes"):
        first, last = used[0], used[-1]
        for name in ("Parts", "Granules"):
            before, left = first.get(f"Initial {name}"), last.get(f"Selected {name}")
            if before is not None and left is not None:
                yield f"{left:,} of {before:,} {name.lower()}"
