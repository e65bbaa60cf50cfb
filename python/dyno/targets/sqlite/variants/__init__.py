"""Rewritten queries of a workload for SQLite: one module per workload."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass, field

from dyno.contracts.databases import workload_of


@dataclass(frozen=True)
class Variants:
    """The rewrites of a workload.

    Attributes:
        reasons: The reason by query. No other query is changed.
        orders: By query its tables (or their aliases), each joined to those before it.
    """

    reasons: Mapping[str, str] = field(default_factory=dict[str, str])
    orders: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])


def of(workload: str) -> Variants:
    """The rewrites of a workload; empty without a module here."""
    name = workload_of(workload)
    if name not in {module.name for module in pkgutil.iter_modules(__path__)}:
        return Variants()
    found: Variants = importlib.import_module(f"{__name__}.{name}").VARIANTS
    return found
