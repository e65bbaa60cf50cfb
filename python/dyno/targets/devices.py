"""Block devices of this machine with a target's data, log and temporary files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from dyno.bundle.model import Role
from dyno.contracts.target import Stored, Target, Unplaced
from dyno.errors import TargetError
from dyno.host.storage import storage_facts


def devices(target: Target) -> dict[str, Any]:
    """``devices``, ``disks`` and ``device_notes`` of :class:`dyno.bundle.model.TargetFacts`.

    Unknown ones are left out: a remote server, a file system without a block device.
    """
    places: dict[Role, list[Path]] = (
        target.storage() if isinstance(target, Stored) else {"data": target.data_paths()}
    )
    notes = tuple(target.unplaced()) if isinstance(target, Unplaced) else ()
    return {**of_places(places), "device_notes": notes}


def of_places(places: Mapping[Role, Sequence[Path]]) -> dict[str, Any]:
    """``devices`` and ``disks`` under paths of this machine, by role."""
    found = {role: _carriers(paths) for role, paths in places.items()}
    disks = {name: tuple(of_it) for carriers in found.values() for name, of_it in carriers.items()}
    devices = {role: tuple(carriers) for role, carriers in found.items() if carriers}
    return {"devices": devices, "disks": disks}


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
