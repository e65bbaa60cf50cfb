"""Tables and columns of a workload, as the generator declares them."""

from __future__ import annotations

import json
from typing import Any

from dyno.contracts.databases import home_of, workload_of


def tables(workload: str) -> list[dict[str, Any]]:
    """Every table: ``name``, ``columns`` and ``primary_key``.

    A column has ``name``, ``kind``, ``nullable``, ``prose`` (whether its texts are sentences) and
    ``early`` (whether there are dates before 1970).
    """
    from dyno import _core

    found: list[dict[str, Any]] = json.loads(_core.schema(workload_of(workload)))
    return found


def visible(workload: str) -> list[tuple[str, dict[str, Any]]]:
    """Every table that statements of ``workload`` can mean, with the workload that declares it."""
    owners = dict.fromkeys(map(workload_of, (home_of(workload), workload)))
    return [(owner, table) for owner in owners for table in tables(owner)]


def visible_names(workload: str) -> list[str]:
    """Names of every table that statements of ``workload`` can mean."""
    return [table["name"] for _, table in visible(workload)]


def table_names(workload: str) -> list[str]:
    """Names of the tables, in the generator's order."""
    return [table["name"] for table in tables(workload)]
