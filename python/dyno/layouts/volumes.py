"""Volumes of a layout on this machine: existence, free space, shared devices."""

from __future__ import annotations

import functools
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dyno import workloads
from dyno.config.units import bytes_text
from dyno.contracts import schema
from dyno.contracts.layout import TABLESPACE, Layout
from dyno.errors import DiskFullError, TargetError
from dyno.host.storage import storage_facts

_WIDTH = {"int32": 4, "int64": 8, "decimal": 8, "date": 4, "timestamp": 8}
_ROW_OVERHEAD = 28
_VARCHAR_FILL = 0.6
_KEYS = 1.5
"""Tables with their keys and indexes against tables alone: 1.4 for TPC-H in PostgreSQL 18."""
_SMALL = 1 << 19
"""Files up to this size grow page by page in engines that extend larger ones in steps."""
_LEAST = 1 << 20
"""Space that any volume must have: what a log or temporary files need is not known before."""
_LARGEST_COUNTED = 0.4
"""Scale up to which the rows of data with a history are counted."""
_CLUSTERED = 2.2
"""Rebuilding a table needs space for a second copy with its indexes."""


def folders(layout: Layout) -> dict[str, str]:
    """Folders that the layout names, and what each is for, in its words."""
    found: dict[str, str] = {}
    named = [(volume, "data") for volume in layout.data_volumes()]
    named += [(volume, what) for what in ("log", "temp") if (volume := getattr(layout, what))]
    for volume, what in named:
        if not volume.startswith(TABLESPACE):
            found.setdefault(volume, what)
    return found


def table_bytes(workload: str, table: str, scale: float, days: int | None = None) -> int:
    """Roughly what the rows of a table take in a row store, without keys.

    ``days`` are the initial days of the data; None for the workload's usual number.
    """
    rows = _rows(workload, table, scale, days)
    columns = next(item for item in schema.tables(workload) if item["name"] == table)["columns"]
    return round(rows * (_ROW_OVERHEAD + sum(_column_bytes(column["kind"]) for column in columns)))


def _rows(workload: str, table: str, scale: float, days: int | None) -> float:
    from dyno import _core

    if workloads.get(workload).days is not None:
        return _with_history(workload, table, scale, days)
    return _core.rows(workload, table, scale, 1)[0]


@functools.lru_cache(maxsize=256)
def _with_history(workload: str, table: str, scale: float, days: int | None) -> float:
    """Roughly the rows of a table of data with a history.

    Their number follows from a simulation of all days, which takes minutes for large data. It grows
    linearly with the scale, so two small scales are enough.
    """
    from dyno import _core

    def rows(at: float) -> int:
        return _core.rows(workload, table, at, 1, days)[0]

    if scale <= _LARGEST_COUNTED:
        return rows(scale)
    half = _LARGEST_COUNTED / 2
    growth = (rows(_LARGEST_COUNTED) - rows(half)) / half
    return rows(half) + growth * (scale - half)


def needs(layout: Layout, scale: float, days: int | None = None, ahead: int = 0) -> dict[str, int]:
    """Bytes that each data volume must hold at the peak of the load, roughly.

    Args:
        layout: The layout.
        scale: Of the data.
        days: Its initial days.
        ahead: Bytes by which the engine extends each file before it needs them.
    """
    found: dict[str, float] = {}
    for name in schema.table_names(layout.workload):
        design = layout.design(name)
        factor = _CLUSTERED if design.cluster else _KEYS if layout.primary_keys else 1.0
        size = table_bytes(layout.workload, name, scale, days) * factor
        parts = design.partitions or (None,)
        for part in parts:
            volume = layout.volume_of(name, part)
            if volume is not None:
                own = size / len(parts)
                found[volume] = found.get(volume, 0.0) + own + (ahead if own > _SMALL else 0)
    return {volume: round(size) for volume, size in found.items()}


def share_here(layout: Layout, scale: float, days: int | None = None) -> float:
    """Share of the data, 0 to 1, that no volume of the layout takes."""
    total = here = 0.0
    for name in schema.table_names(layout.workload):
        size = table_bytes(layout.workload, name, scale, days)
        parts = layout.design(name).partitions or (None,)
        total += size
        here += size * sum(layout.volume_of(name, part) is None for part in parts) / len(parts)
    return here / total


def check(layout: Layout, needed: Mapping[str, int], home: Path) -> tuple[str, ...]:
    """Refuses unusable volumes; reports which ones share a device.

    Args:
        layout: The layout.
        needed: Bytes by volume, from :func:`needs`.
        home: Where everything else of the target lies.

    Returns:
        Notes for the record, one for each pair of places on one device.

    Raises:
        TargetError: If one is missing or no folder.
        DiskFullError: If one is too small, with the needed and the free space.
    """
    places = folders(layout)
    for volume, what in places.items():
        path = Path(volume)
        if not path.is_dir():
            state = "is no folder" if path.exists() else "does not exist"
            raise TargetError(
                f"Layout {layout.name}: the volume {volume} (for {what}) {state}. Mount it, or "
                "use another.",
                kind="io",
            )
    _require_space(layout, places, needed)
    return _shared(places, home)


def _require_space(layout: Layout, places: Mapping[str, str], needed: Mapping[str, int]) -> None:
    """Volumes on one file system share its space."""
    systems: dict[int, list[str]] = {}
    for volume in places:
        systems.setdefault(Path(volume).stat().st_dev, []).append(volume)
    for volumes in systems.values():
        wanted = max(_LEAST, sum(needed.get(volume, 0) for volume in volumes))
        free = shutil.disk_usage(volumes[0]).free
        if wanted > free:
            raise DiskFullError(
                f"Layout {layout.name} needs about {bytes_text(wanted)} on "
                f"{' and '.join(volumes)}, which has {bytes_text(free)} free. Free some space, "
                "or use a smaller --scale or another volume."
            )


def _shared(places: Mapping[str, str], home: Path) -> tuple[str, ...]:
    labels = {volume: f"{volume} ({what})" for volume, what in places.items()}
    labels.setdefault(str(home), f"{home} (everything else)")
    first: dict[Any, str] = {}
    notes: list[str] = []
    for place, label in labels.items():
        facts = storage_facts(Path(place))
        device = facts["disk"] or facts["fs_source"] or Path(place).stat().st_dev
        if device in first:
            notes.append(
                f"{first[device]} and {label} are on one device ({device}) and share its bandwidth."
            )
        else:
            first[device] = label
    return tuple(notes)


def _column_bytes(kind: dict[str, Any]) -> float:
    if kind["type"] == "char":
        return float(kind["len"]) + 1
    if kind["type"] == "varchar":
        return float(kind["max"]) * _VARCHAR_FILL + 1
    return float(_WIDTH[kind["type"]])
