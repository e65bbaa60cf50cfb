"""Block devices of this machine with a target's files, by role."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from dyno.bundle.carriers import partition
from dyno.contracts.layout import TABLESPACE, Layout
from dyno.contracts.target import Stored, Target, Unplaced
from dyno.errors import TargetError
from dyno.host.storage import storage_facts


def stored(
    target: Target, layout: Layout | None = None, backup: Path | None = None
) -> dict[str, list[Path]]:
    """Paths of a target's files on this machine by role; unknown roles are omitted.

    Args:
        target: The running target.
        layout: The layout of its data, with the volumes of partitions and of temporary files.
        backup: The folder of its backups during the run.
    """
    own = target.storage() if isinstance(target, Stored) else {"data": target.data_paths()}
    found = {str(role): paths for role, paths in own.items() if paths}
    if "data" not in found:
        return found
    if layout is not None:
        found |= _of_layout(layout, found)
    return found if backup is None else {**found, "backup": [backup]}


def devices(target: Target, places: Mapping[str, list[Path]]) -> dict[str, Any]:
    """``devices``, ``disks`` and ``device_notes`` of :class:`dyno.bundle.model.TargetFacts`.

    Unknown ones are left out: a remote server, a file system without a block device.

    Args:
        target: The running target.
        places: Its paths by role.
    """
    notes = tuple(target.unplaced()) if isinstance(target, Unplaced) else ()
    return {**of_places(places), "device_notes": notes}


def of_places(places: Mapping[str, Sequence[Path]]) -> dict[str, Any]:
    """``devices`` and ``disks`` under paths of this machine, by role."""
    found = {role: _carriers(paths) for role, paths in places.items()}
    disks = {name: tuple(of_it) for carriers in found.values() for name, of_it in carriers.items()}
    devices = {role: tuple(carriers) for role, carriers in found.items() if carriers}
    return {"devices": devices, "disks": disks}


def _of_layout(layout: Layout, own: Mapping[str, list[Path]]) -> dict[str, list[Path]]:
    """The roles that a layout adds or moves."""
    volumes = _of_partitions(layout)
    found = {partition(number): [path] for number, path in enumerate(volumes, start=1)}
    found = found if len(volumes) > 1 else {}
    if layout.temp is None:
        # A server with tablespaces does not know which workload's temporary files are asked for.
        return {"temp": own["data"][:1], **found} if "temp" not in own else found
    if layout.temp.startswith(TABLESPACE):
        return found
    place = Path(layout.temp)
    if layout.temp not in layout.data_volumes():  # a tablespace there holds no tables
        kept = [path for path in own["data"] if not path.is_relative_to(place.resolve())]
        found["data"] = kept or own["data"]
    return {**found, "temp": [place]}


def _of_partitions(layout: Layout) -> list[Path]:
    """The folders that hold partitions, each once, in the order of the partitions."""
    volumes = [
        layout.volume_of(name, part)
        for name, design in layout.tables.items()
        for part in design.partitions
    ]
    named = dict.fromkeys(volume for volume in volumes if volume is not None)
    return [Path(volume) for volume in named if not volume.startswith(TABLESPACE)]


def _carriers(paths: Iterable[Path]) -> dict[str, list[dict[str, Any]]]:
    """The devices under all paths with their disks; empty if one is unknown."""
    found: dict[str, list[dict[str, Any]]] = {}
    for path in paths:
        try:
            facts = storage_facts(path)
        except TargetError:
            return {}
        if facts["subject"] is None:
            return {}
        found[facts["subject"]] = facts["disks"]
    return found
