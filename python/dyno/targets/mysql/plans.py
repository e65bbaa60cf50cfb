"""Plans of MariaDB and MySQL, from ``EXPLAIN FORMAT=JSON``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from dyno.contracts.plans import Node, QueryPlan, render
from dyno.errors import DatabaseError
from dyno.targets.mysql.connection import MysqlConnection

_EXPECTED = ("rows", "rows_examined_per_scan", "rows_produced_per_join")
"""Fields of expected rows per table: MariaDB's, then MySQL's."""

_ANALYSES = (8, 0, 18)
"""The first MySQL version with ``EXPLAIN ANALYZE``."""


def explain(session: MysqlConnection, sql: str, *, analyse: bool) -> QueryPlan:
    """The plan of a query; ``analyse`` runs it and adds actual values.

    MariaDB has actual values in the same document; MySQL as text (``EXPLAIN ANALYZE``).

    Raises:
        DatabaseError: If this MySQL does not report actual values.
    """
    if analyse and not session.version.is_mariadb and session.version.number < _ANALYSES:
        raise DatabaseError(
            f"{session.version} does not report actual plan times; MySQL 8.0.18 and newer "
            "do. Use --plans instead of --analyse-plans."
        )
    text = sql.strip().rstrip(";")
    if analyse and session.version.is_mariadb:
        return _plan(_document(session, f"ANALYZE FORMAT=JSON {text}"))
    found = _plan(_document(session, f"EXPLAIN FORMAT=JSON {text}"))
    if not analyse:
        return found
    happened = str(session.execute(f"EXPLAIN ANALYZE {text}").rows[0][0]).rstrip()
    return QueryPlan(happened, {"plan": found.tree, "happened": happened})


def _document(session: MysqlConnection, statement: str) -> Any:
    return json.loads(session.execute(statement).rows[0][0])


def _plan(document: Any) -> QueryPlan:
    nodes = list(_nodes(document))
    return QueryPlan(render(nodes[0] if len(nodes) == 1 else Node("query", nodes)), document)


def _nodes(value: Any) -> Iterator[Node]:
    """The steps in a document: tables, and the blocks that contain them."""
    if isinstance(value, list):
        for item in value:
            yield from _nodes(item)
    elif isinstance(value, dict) and "operation" in value:
        inner = [node for name in value if name != "operation" for node in _nodes(value[name])]
        yield Node(_operation(value), inner)
    elif isinstance(value, dict):
        for name, inner in value.items():
            if name == "table" and isinstance(inner, dict):
                yield Node(_table(inner), list(_nodes(inner)))
            elif isinstance(inner, (dict, list)) and (below := list(_nodes(inner))):
                yield Node(_block(name, inner), below)


def _operation(step: dict[str, Any]) -> str:
    """``Table scan on orders · 15 rows expected``, from MySQL's version 2 of the document."""
    rows, heading = step.get("estimated_rows"), step.get("heading")
    label = f"{heading}: {step['operation']}" if heading else str(step["operation"])
    return label if rows is None else f"{label} · {rows:,.0f} rows estimated"


def _block(name: str, inner: Any) -> str:
    label = name.replace("_", " ").replace("-", " ")
    done = inner.get("r_total_time_ms") if isinstance(inner, dict) else None
    return label if done is None else f"{label} · {done:,.3f} ms"


def _table(table: dict[str, Any]) -> str:
    """``orders: ref by o_custkey · 15 rows expected, 14 seen · 0.12 ms``."""
    parts = [f"{table.get('table_name', 'table')}: {table.get('access_type', 'rows')}"]
    if key := table.get("key"):
        parts[0] += f" by {key}"
    expected = next((table[name] for name in _EXPECTED if name in table), None)
    seen, time_ms = table.get("r_rows"), table.get("r_total_time_ms")
    rows = [f"{expected:,.0f} rows estimated"] if expected is not None else []
    rows += [f"{seen:,.0f} seen"] if seen is not None else []
    parts += [", ".join(rows)] if rows else []
    parts += [f"{time_ms:,.3f} ms"] if time_ms is not None else []
    return " · ".join(parts)
