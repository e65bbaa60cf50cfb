"""A cache on flash that a killed run left in front of an engine's files."""

from __future__ import annotations

from pathlib import Path

from dyno.accelerate.attach import attached, mounting
from dyno.workspace import places


def detach(home: Path) -> None:
    """Detaches the cache that a killed run left in front of an engine's folder, if any.

    One that the user attached stays: its folder is not the engine's. The daemon may be dead, so
    nothing in the engine's folder is read.

    Raises:
        TargetError: If it is in use.
    """
    found = mounting.find(home)
    if found is not None and places.is_ours(Path(found.source).parent, home):
        attached.detach(home)


def detach_all(engines: Path) -> None:
    """The same for all engines in a folder.

    Raises:
        TargetError: If one is in use.
    """
    for mount in mounting.mounts():
        if Path(mount.point).parent == engines.resolve():
            detach(Path(mount.point))
