"""Storage profiles as data: the shipped TOML files. Users can write their own (``spec``)."""

from __future__ import annotations

from pathlib import Path

from dyno.config import presets

FOLDER = Path(__file__).parent
DEFAULT = "quick"


def names() -> list[str]:
    """Returns the names of the shipped profiles, sorted."""
    return presets.names(FOLDER)


def purpose(name: str) -> str:
    """Returns the purpose of a profile on one line."""
    return presets.purpose(FOLDER, name)
