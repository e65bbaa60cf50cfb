"""How an engine would run, or ran, a query: its plan, as data and as text.

A target that tells has a method ``explain``; every other one gives its reason.
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
        text: For people: a node a line, indented below what it feeds.
        tree: The engine's own document.
    """

    text: str
    tree: Any


@dataclass(frozen=True)
class Node:
    """One node of a plan, as the text of it needs it."""

    label: str
    inputs: Sequence[Node] = ()


@runtime_checkable
class Explains(Protocol):
    """A target that shows plans."""

    def explain(self, connection: Connection, sql: str, *, analyse: bool) -> QueryPlan:
        """The plan of a query; with ``analyse`` the query is run and the plan says what it did.

        Raises:
            DynoError: As :meth:`Connection.execute`.
        """
        ...


def require(target: Target) -> Explains:
    """The target as one that shows plans.

    Raises:
        UsageError: If it shows none.
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
