"""Dyno's own data in a database: workload, scale, and the queries that a run executed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from dyno.bundle.model import Phase, those
from dyno.bundle.phases.dss import DssDetail
from dyno.bundle.phases.load import LoadDetail
from dyno.bundle.phases.oltp import OltpDetail
from dyno.bundle.reader import Bundle
from dyno.layouts import DEFAULT


@dataclass(frozen=True)
class Load:
    """Loaded data.

    Attributes:
        database: The workload, or one of several databases of it (``contracts.databases``).
        scale: None if unknown.
        queries: What each query of the workload read or took, by name; empty if none ran.
        unit: What that is: ``bytes read`` or ``time``.
        users: The most users of its transactions; None if none ran.
        layout: The name of its layout.
        days: Initial days of the data; None if unknown, or for a workload without.
    """

    database: str
    scale: float | None = None
    queries: Mapping[str, float] = field(default_factory=dict[str, float])
    unit: str = ""
    users: int | None = None
    layout: str = DEFAULT
    days: int | None = None


def of_run(bundle: Bundle, target: str) -> tuple[Load, ...]:
    """The data that a run loaded into a target or used there.

    Raises:
        UsageError: If a table of the bundle is damaged.
    """
    own = [one for one in bundle.run.phases if one.target == target and not one.part_of]
    names = dict.fromkeys(one.detail.workload for one in own if one.detail.workload)
    layout = layout_of(bundle.run.plan.get("layout"))
    return tuple(
        replace(_load(name, own, *_queries(bundle, target, name)), layout=layout) for name in names
    )


def layout_of(recorded: Any) -> str:
    """The name of a recorded layout; data without one has the default."""
    return str(recorded.get("name", "")) if isinstance(recorded, Mapping) else DEFAULT  # pyright: ignore[reportUnknownMemberType]


def _load(name: str, own: Iterable[Phase], queries: Mapping[str, float], unit: str) -> Load:
    phases = [phase for phase in own if phase.detail.workload == name]
    dss = those(phases, DssDetail)
    driven = those(phases, OltpDetail)
    scales = [
        *(phase.detail.scale for phase in (*those(phases, LoadDetail), *dss)),
        *(_each(phase.detail.size, phase.detail.databases) for phase in driven),
    ]
    users = [found for one in driven if (found := one.detail.users_each or one.detail.users)]
    scale = next((one for one in scales if one is not None and one > 0), None)
    days = [phase.detail.days for phase in (*those(phases, LoadDetail), *driven)]
    return Load(
        name,
        scale,
        queries if dss else {},
        unit if dss else "",
        int(max(users)) if users else None,
        days=next((one for one in days if one is not None), None),
    )


def _each(size: float | None, databases: int | None) -> float | None:
    """The size of one of several databases, which all hold the same."""
    return None if size is None else size / (databases or 1)


def _queries(bundle: Bundle, target: str, workload: str) -> tuple[dict[str, float], str]:
    """Bytes read of each query, if the run counted them for all; else its time."""
    rows = [
        row
        for row in bundle.table("queries").to_pylist()
        if row["target"] == target
        and row["workload"] in (None, workload)
        and row["query"]
        and not row["error"]
    ]
    by_bytes = bool(rows) and all(row["bytes_read"] for row in rows)
    found: dict[str, float] = {}
    for row in rows:
        value = row["bytes_read"] if by_bytes else row["seconds"]
        found[row["query"]] = found.get(row["query"], 0.0) + float(value or 0.0)
    return found, "bytes read" if by_bytes else "time"
