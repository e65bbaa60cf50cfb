"""A cache on flash that a killed run left in front of an engine's files."""

from __future__ import annotations

from pathlib import Path

from dyno.accelerate.attach import attached, mounting
from dyno.workspace import places


def detach(home: Path) -> None:
    """Detaches the cache that a killed run left in front of an engine's folder, if any.

    One that the user attached stays: its folder is not the engine's.

    Raises:
        TargetError: If it is in use.
    """
    found = mounting.find(home)
    if found is not None and Path(found.source).parent in places.own(home):
        attached.detach(home)
