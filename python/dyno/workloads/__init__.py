"""Workloads: one folder each, found by name. A folder offers ``WORKLOAD``."""

from __future__ import annotations

import importlib
import pkgutil

from dyno.contracts.databases import workload_of
from dyno.contracts.workload import Workload
from dyno.errors import unknown


def names() -> list[str]:
    """Names of all workloads, sorted."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__) if module.ispkg)


def named(name: str) -> Workload:
    """The workload that a user calls ``name``.

    Raises:
        UsageError: If there is none; the nearest name is offered.
    """
    if name not in names():
        raise unknown("workload", name, names())
    return get(name)


def get(name: str) -> Workload:
    """The workload called ``name``, or of the database of that name (``contracts.databases``).

    Raises:
        UsageError: If there is none; the nearest name is offered.
    """
    name = workload_of(name)
    if name not in names():
        raise unknown("workload", name, names())
    workload: Workload = importlib.import_module(f"{__name__}.{name}").WORKLOAD
    return workload
