"""Queries of which a target changes more than the words (``Capabilities.neutral``)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, runtime_checkable

from dyno.contracts.target import Target


@runtime_checkable
class Rewriting(Protocol):
    """A target that helps its planner in some queries."""

    def variants(self, workload: str) -> Mapping[str, str]:
        """What is changed, by the name of the query. All others keep the neutral structure."""
        ...


def variants(target: Target, workload: str) -> dict[str, str]:
    """What ``target`` changes in the queries of ``workload``, by name; empty for most targets."""
    return dict(target.variants(workload)) if isinstance(target, Rewriting) else {}
