"""Which block devices of this machine carry a target's data and its log."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from dyno.errors import TargetError
from dyno.host.storage import storage_facts
from dyno.targets.base import Stored, Target


def devices(target: Target) -> dict[str, tuple[str, ...]]:
    """Names of devices as the probes know them, of ``data`` and ``log``.

    What is not known is left out: a server elsewhere, a file system without a block device.
    """
    places = target.storage() if isinstance(target, Stored) else {"data": target.data_paths()}
    found = {what: _subjects(paths) for what, paths in places.items()}
    return {what: names for what, names in found.items() if names}


def _subjects(paths: Iterable[Path]) -> tuple[str, ...]:
    """The devices under all paths; none if that of one of them cannot be named."""
    found: dict[str, None] = {}
    for path in paths:
        try:
            subject = storage_facts(path)["subject"]
        except TargetError:
            return ()
        if subject is None:
            return ()
        found[subject] = None
    return tuple(found)
