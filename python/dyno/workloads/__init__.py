"""Workloads: one folder each, found by name. A folder offers ``WORKLOAD``.

Folders of further workloads are found in the folders that ``DYNO_WORKLOADS`` names.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal

from dyno.contracts.databases import workload_of
from dyno.errors import unknown

if TYPE_CHECKING:  # the command line names its defaults before it needs any of them
    from dyno.contracts.transactions import Transactions
    from dyno.contracts.workload import Workload

USUAL = {"dss": "tpch", "oltp": "tpcc"}
"""The workload of each kind that quickstart runs, and a study that names none."""

FIRST = ("tpch", "tpcc")
"""Workloads that have a key of their own in the JSON document, from before there were others."""

__path__ += [place for place in os.environ.get("DYNO_WORKLOADS", "").split(os.pathsep) if place]


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


def known(name: str) -> Workload | None:
    """The workload of this name or database; None where this Dyno lacks it."""
    return get(name) if workload_of(name) in names() else None


def of_kind(given: Iterable[str], kind: Literal["dss", "oltp"]) -> Workload | None:
    """The first of these workloads that is known and of this kind."""
    found = (known(name) for name in given)
    return next((one for one in found if one is not None and one.kind == kind), None)


def driven(given: Iterable[str]) -> Transactions:
    """The operations of the first of these workloads that has some, or ``NONE``."""
    from dyno.contracts.transactions import NONE

    found = of_kind(given, "oltp")
    return NONE if found is None else found.transactions


def notices(given: Iterable[str]) -> tuple[str, ...]:
    """The notices of these workloads that are known, each once."""
    found = (known(name) for name in given)
    return tuple(dict.fromkeys(one.notice for one in found if one is not None and one.notice))
