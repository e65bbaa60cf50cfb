"""Query plans, as data and as text.

A target with plans has a method ``explain``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from dyno.contracts.target import Connection, Target
from dyno.errors import UsageError


@dataclass(frozen=True)
class QueryPlan:
    """A plan.

    Attributes:
        text: For people: one node per line, indented below its parent.
        tree: The engine's document.
    """

    text: str
    tree: Any


@dataclass(frozen=True)
class Node:
    """A node of a plan, as needed for its text."""

    label: str
    inputs: Sequence[Node] = ()


@runtime_checkable
class Explains(Protocol):
    """A target with query plans."""

    def explain(self, connection: Connection, sql: str, *, analyse: bool) -> QueryPlan:
        """The plan of a query; ``analyse`` runs the query and adds actual values.

        Raises:
            DynoError: As :meth:`Connection.execute`.
        """
        ...


def require(target: Target) -> Explains:
    """The target, if it has plans.

    Raises:
        UsageError: If it has none.
    """
    if not isinstance(target, Explains):
        raise UsageError(
            f"The {target.name} target does not support this: Dyno cannot read its plans."
        )
    return target


def render(root: Node) -> str:
    """The text of a plan."""
    return "\n".join(_lines(root, 0))


def _lines(node: Node, depth: int) -> Iterator[str]:
    arrow = f"{'   ' * (depth - 1)}└─ " if depth else ""
    yield f"{arrow}{node.label}"
    for item in node.inputs:
        yield from _lines(item, depth + 1)
