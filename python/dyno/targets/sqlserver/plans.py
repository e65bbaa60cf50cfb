"""Plans of SQL Server, from its XML documents; of Babelfish as text.

Source: Microsoft, "SET SHOWPLAN_XML", "SET STATISTICS XML" and the schema of showplan documents.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree as ET

from dyno.contracts.plans import Node, QueryPlan, render
from dyno.contracts.target import QueryResult
from dyno.errors import DatabaseError, DynoError
from dyno.targets.sqlserver.connection import Session

_XMLNS = "{http://schemas.microsoft.com/sqlserver/2004/07/showplan}"
_MOST = 50_000_000
"""Characters of a document."""
ESTIMATED, ACTUAL = "SHOWPLAN_XML", "STATISTICS XML"
BABELFISH_ESTIMATED, BABELFISH_ACTUAL = "BABELFISH_SHOWPLAN_ALL", "BABELFISH_STATISTICS PROFILE"
"""Settings: while one is on, a statement also returns its plan, after its rows."""
_ROOT, _HEAD = "<ShowPlanXML", 200
"""The first element of a document, within so many characters."""
_BABELFISH_COLUMNS = ["QUERY PLAN"]


def explain(session: Session, sql: str, *, analyse: bool) -> QueryPlan:
    """The plan of a query; ``analyse`` runs it and adds actual values.

    Of several statements the last one counts.

    Raises:
        DatabaseError: If the server returns no plan.
    """
    if session.version.is_babelfish:
        setting = BABELFISH_ACTUAL if analyse else BABELFISH_ESTIMATED
        results = _shown(session, setting, sql)
        lines = [row for one in results if one.columns == _BABELFISH_COLUMNS for row in one.rows]
        text: str | None = "\n".join(str(row[0]) for row in lines).rstrip() or None
        tree = {"text": text}
    else:
        results = _shown(session, ACTUAL if analyse else ESTIMATED, sql)
        cells = [str(row[0]) for one in results for row in one.rows[:1] if row]
        document = next((cell for cell in reversed(cells) if _ROOT in cell[:_HEAD]), "")
        text, tree = text_of(document), {"xml": document}
    if text is None:
        raise DatabaseError(f"{session.version} returned no plan.")
    return QueryPlan(text, tree)


def text_of(document: Any) -> str | None:
    """A showplan document as text; None if it is none."""
    source = str(document or "")
    # A document of a server has no types of its own; entities could grow without bounds.
    if not source or len(source) > _MOST or "<!DOCTYPE" in source:
        return None
    try:
        root = ET.fromstring(source)  # noqa: S314  (without entities, see above)
    except ET.ParseError:
        return None
    found = [node for top in _topmost(root) if (node := _node(top)) is not None]
    if not found:
        return None
    return render(found[0] if len(found) == 1 else Node("batch", found))


def _shown(session: Session, setting: str, sql: str) -> list[QueryResult]:
    session.execute(f"SET {setting} ON")
    try:
        return session.results(sql)
    finally:
        try:
            session.execute(f"SET {setting} OFF")
        except DynoError:
            session.close()  # it would return plans instead of rows
            raise


def _topmost(element: ET.Element) -> Iterator[ET.Element]:
    """The outermost steps below an element."""
    for child in element:
        if child.tag == f"{_XMLNS}RelOp":
            yield child
        else:
            yield from _topmost(child)


def _node(step: ET.Element) -> Node | None:
    inputs = [node for below in _topmost(step) if (node := _node(below)) is not None]
    return Node(_label(step), inputs)


def _label(step: ET.Element) -> str:
    """``Index Seek on stock by pk_stock · 15 rows estimated, 14 seen · 0.120 ms · spilled``."""
    physical, logical = step.get("PhysicalOp", "step"), step.get("LogicalOp", "")
    parts = [physical if logical in ("", physical) else f"{physical} ({logical})"]
    if (used := _own(step, "Object")) is not None:
        parts[0] += f" on {_bare(used.get('Table', ''))}"
        if index := used.get("Index"):
            parts[0] += f" by {_bare(index)}"
    estimated = float(step.get("EstimateRows") or 0)
    rows = [f"{estimated:,.0f} rows estimated"]
    threads = step.findall(f"{_XMLNS}RunTimeInformation/{_XMLNS}RunTimeCountersPerThread")
    if threads:
        rows.append(f"{sum(int(one.get('ActualRows') or 0) for one in threads):,} seen")
    parts.append(", ".join(rows))
    if elapsed := [int(one.get("ActualElapsedms") or 0) for one in threads]:
        parts.append(f"{max(elapsed):,} ms")
    if _spilled(step):
        parts.append("spilled to tempdb")
    return " · ".join(parts)


def _own(step: ET.Element, name: str) -> ET.Element | None:
    """The first element of a step, outside the steps below it."""
    for child in step:
        if child.tag == f"{_XMLNS}{name}":
            return child
        if child.tag != f"{_XMLNS}RelOp" and (found := _own(child, name)) is not None:
            return found
    return None


def _spilled(step: ET.Element) -> bool:
    warnings = step.find(f"{_XMLNS}Warnings")
    names = ("SpillToTempDb", "SortSpillDetails", "HashSpillDetails", "ExchangeSpillDetails")
    return warnings is not None and any(
        warnings.find(f"{_XMLNS}{name}") is not None for name in names
    )


def _bare(name: str) -> str:
    return name.strip("[]").replace("]]", "]")
