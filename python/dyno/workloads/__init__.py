"""Workloads: one folder each, found by name. A folder offers ``WORKLOAD``."""

from __future__ import annotations

import importlib
import pkgutil

from dyno.errors import unknown
from dyno.workloads.base import Workload


def names() -> list[str]:
    """Names of all workloads, sorted."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__) if module.ispkg)


def get(name: str) -> Workload:
    """The workload called ``name``.

    Raises:
        UsageError: If there is none; the nearest name is offered.
    """
    if name not in names():
        raise unknown("workload", name, names())
    workload: Workload = importlib.import_module(f"{__name__}.{name}").WORKLOAD
    return workload
