"""Block devices of this machine with a target's files, by role."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from dyno.bundle.carriers import partition
from dyno.contracts.layout import TABLESPACE, Layout
from dyno.contracts.target import Stored, Target, Unplaced
from dyno.errors import TargetError
from dyno.host.storage import cache_of, storage_facts


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
    found = with_layout({role: paths for role, paths in own.items() if paths}, layout, Path.resolve)
    caches = {cache for path in found.get("data", ()) if (cache := cache_of(path)) is not None}
    if caches:
        found["flash"] = sorted(caches)
    return found if backup is None or "data" not in found else {**found, "backup": [backup]}


def devices(target: Target, places: Mapping[str, list[Path]]) -> dict[str, Any]:
    """Devices, disks, volumes and notes of :class:`dyno.bundle.model.TargetFacts`.

    Unknown ones are left out: a remote server, a file system without a block device.

    Args:
        target: The running target.
        places: Its paths by role.
    """
    notes = tuple(target.unplaced()) if isinstance(target, Unplaced) else ()
    return {**of_places(places), "volumes": volumes(places), "device_notes": notes}


def volumes(places: Mapping[str, Sequence[Path]]) -> dict[str, dict[str, Any]]:
    """Facts on the file system under the first path of each role (``dyno.host.fields``)."""
    found: dict[str, dict[str, Any]] = {}
    for role, paths in places.items():
        with contextlib.suppress(TargetError, IndexError):
            found[role] = storage_facts(paths[0])
    return found


def of_places(places: Mapping[str, Sequence[Path]]) -> dict[str, Any]:
    """``devices`` and ``disks`` under paths of this machine, by role."""
    found = {role: _carriers(paths) for role, paths in places.items()}
    disks = {name: tuple(of_it) for carriers in found.values() for name, of_it in carriers.items()}
    devices = {role: tuple(carriers) for role, carriers in found.items() if carriers}
    return {"devices": devices, "disks": disks}


def with_layout(
    own: Mapping[str, Sequence[Path]],
    layout: Layout | None,
    resolved: Callable[[Path], Path] = lambda path: path,
) -> dict[str, list[Path]]:
    """Paths by role, with the roles that a layout adds or moves.

    Args:
        own: Paths of the server by role, and of its tablespaces by volume (``tablespace:NAME``).
        layout: The layout of its data; None if unknown.
        resolved: Follows links. The default leaves the paths of another machine as they are.
    """
    found = {role: list(paths) for role, paths in own.items() if not role.startswith(TABLESPACE)}
    if layout is None or "data" not in found:
        return found
    volumes = [_path(volume, own) for volume in _of_partitions(layout)]
    known = [path for path in volumes if path is not None]
    if len(known) > 1:
        found |= {partition(number): [path] for number, path in enumerate(known, start=1)}
    if layout.temp is None:
        # A server with tablespaces does not know which workload's temporary files are asked for.
        return {"temp": found["data"][:1], **found}
    place = _path(layout.temp, own)
    if place is None:
        return found
    if layout.temp not in layout.data_volumes():  # a tablespace there holds no tables
        kept = [path for path in found["data"] if not path.is_relative_to(resolved(place))]
        found["data"] = kept or found["data"]
    return {**found, "temp": [place]}


def _path(volume: str, own: Mapping[str, Sequence[Path]]) -> Path | None:
    """The folder of a volume; None for an unknown tablespace."""
    if volume.startswith(TABLESPACE):
        return next(iter(own.get(volume, ())), None)
    return Path(volume)


def _of_partitions(layout: Layout) -> list[str]:
    """The volumes that hold partitions, each once, in the order of the partitions."""
    volumes = [
        layout.volume_of(name, part)
        for name, design in layout.tables.items()
        for part in design.partitions
    ]
    return list(dict.fromkeys(volume for volume in volumes if volume is not None))


def _carriers(paths: Iterable[Path]) -> dict[str, list[dict[str, Any]]]:
    """The devices under all paths with their disks; empty if one is unknown."""
    found: dict[str, list[dict[str, Any]]] = {}
    for path in paths:
        try:
            facts = storage_facts(path)
        except TargetError:
            return {}
        subjects = facts["subjects"]
        if not subjects or None in subjects:
            return {}
        found |= dict.fromkeys(subjects, facts["disks"])
    return found
