"""The state that a load alone begins with: nothing."""

from __future__ import annotations

from pathlib import Path

from dyno import engines, places


def remove_engines(out: Path) -> None:
    """Removes the private engines of an output folder, and what they have on volumes elsewhere.

    Raises:
        TargetError: If something cannot be removed.
    """
    for home in engines.homes(out)[0]:
        places.release(home.resolve())
        engines.remove(home)
