"""Workloads: one folder each, found by name. Each folder defines ``WORKLOAD``.

``DYNO_WORKLOADS`` names folders with further workload folders.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from dyno.contracts.databases import workload_of
from dyno.errors import UsageError, unknown

if TYPE_CHECKING:  # lazy: the command line shows names of workloads without them
    from dyno.contracts.transactions import Transactions
    from dyno.contracts.workload import Workload

USUAL = {"dss": "tpch", "oltp": "tpcc"}
"""Default workload of each kind: for quickstart, and for studies that name none."""

FIRST = ("tpch", "tpcc")
"""Workloads with their own key in the JSON document, for backward compatibility."""

__path__ += [place for place in os.environ.get("DYNO_WORKLOADS", "").split(os.pathsep) if place]


def names() -> list[str]:
    """Names of all workloads, sorted."""
    return list(_names(tuple(__path__)))


@cache
def _names(folders: tuple[str, ...]) -> list[str]:
    # Asked for at each metric and each statement, so the folders are read once.
    found = {module.name for module in pkgutil.iter_modules(folders) if module.ispkg}
    return sorted(found - {"own"})


def words(text: str) -> list[str]:
    """The workloads in ``tpcc+tpch``; a file may have a plus sign in its name."""
    return [text] if Path(text).exists() else text.split("+")


def named(name: str) -> Workload:
    """Returns the workload with the user's name ``name``, or in the file of that name.

    Raises:
        UsageError: If there is none, and the nearest name is offered; or if the file is invalid.
    """
    from dyno.workloads import own

    if name not in names():
        if own.is_meant(name):
            return own.read(name)
        known = unknown("workload", name, [*names(), *own.examples()])
        raise UsageError(f"{known} The name of a workload file ends in .toml.")
    return get(name)


def get(name: str) -> Workload:
    """Returns the workload ``name``, or that of the database ``name`` (``contracts.databases``).

    Raises:
        UsageError: If there is none; the nearest name is offered.
    """
    from dyno.workloads import own

    name = workload_of(name)
    if (found := own.find(name)) is not None:
        return found
    if own.is_meant(name):
        return own.read(name)
    if name not in names():
        raise unknown("workload", name, names())
    workload: Workload = importlib.import_module(f"{__name__}.{name}").WORKLOAD
    return workload


def known(name: str) -> Workload | None:
    """The workload of this name or database; None if it is not installed."""
    from dyno.workloads import own

    base = workload_of(name)
    return get(name) if base in names() or own.find(base) is not None else None


def place_of(name: str) -> str:
    """The database whose tables the statements of a workload mean: empty for the target's own."""
    return name if get(name).loads else ""


def of_kind(given: Iterable[str], kind: Literal["dss", "oltp"]) -> Workload | None:
    """The first known workload of this kind among ``given``."""
    found = (known(name) for name in given)
    return next((one for one in found if one is not None and one.kind == kind), None)


def driven(given: Iterable[str]) -> Transactions:
    """The operations of the first of these workloads with any, or ``NONE``."""
    from dyno.contracts.transactions import NONE

    found = of_kind(given, "oltp")
    return NONE if found is None else found.transactions


def driven_in(workload: str | None, given: Iterable[str]) -> Transactions:
    """The operations of a phase's ``workload``; if it is unknown, of the first of ``given``."""
    return driven([workload] if workload else given)


def notices(given: Iterable[str]) -> tuple[str, ...]:
    """The distinct notices of these workloads."""
    found = (known(name) for name in given)
    return tuple(dict.fromkeys(one.notice for one in found if one is not None and one.notice))
