"""Plans of SQLite.

They contain tables, indexes and temporary B-trees, but no rows or times of single steps, expected
or actual. An analysed plan has those of the whole query.
"""

from __future__ import annotations

import time
from typing import Any

from dyno.contracts.plans import Node, QueryPlan, render
from dyno.targets.sqlite.connection import SqliteConnection


def explain(session: SqliteConnection, sql: str, *, analyse: bool) -> QueryPlan:
    """The plan by ``EXPLAIN QUERY PLAN``; ``analyse`` also runs the query."""
    text = sql.strip().rstrip(";")
    rows = session.execute(f"EXPLAIN QUERY PLAN {text}").rows
    steps = [{"id": row[0], "parent": row[1], "detail": str(row[3])} for row in rows]
    tree: dict[str, Any] = {"steps": steps}
    label = "query · SQLite does not estimate rows"
    if analyse:
        start = time.monotonic()
        count = len(session.execute(text).rows)
        ms = (time.monotonic() - start) * 1000
        tree["happened"] = {"rows": count, "ms": ms}
        label = f"{count:,} rows · {ms:,.3f} ms"
    return QueryPlan(render(Node(label, _below(steps, 0))), tree)


def _below(steps: list[dict[str, Any]], parent: int) -> list[Node]:
    return [
        Node(step["detail"], _below(steps, step["id"]))
        for step in steps
        if step["parent"] == parent
    ]
