"""Studies: controlled experiments that compare variants in alternating runs.

Each run is a ``dyno run`` or ``dyno io`` in its own process, with its own bundle. A study defines
their order and analyses their metrics together.
"""

from __future__ import annotations

from pathlib import Path

from dyno.config import presets

FOLDER = Path(__file__).parent


def names() -> list[str]:
    """Names of the studies that Dyno ships, sorted."""
    return presets.names(FOLDER)


def purpose(name: str) -> str:
    """The question of a study, on one line."""
    return presets.purpose(FOLDER, name)
