"""Studies: variants that differ in what is asked about, run in turn, and compared.

Each run is an ordinary run of ``dyno run`` or ``dyno io`` in a process of its own, with a bundle of
its own; a study is the order in which they run, and what their figures say together.
"""

from __future__ import annotations

from pathlib import Path

from dyno.config import presets

FOLDER = Path(__file__).parent


def names() -> list[str]:
    """Names of the studies that Dyno ships, sorted."""
    return presets.names(FOLDER)


def purpose(name: str) -> str:
    """What a study asks, on one line."""
    return presets.purpose(FOLDER, name)
