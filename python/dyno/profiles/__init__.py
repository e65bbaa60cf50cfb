"""Storage profiles as data: the TOML files here; anybody can write another (``spec``)."""

from __future__ import annotations

from pathlib import Path

from dyno.config import presets

FOLDER = Path(__file__).parent
DEFAULT = "quick"


def names() -> list[str]:
    """Names of the profiles that Dyno ships, sorted."""
    return presets.names(FOLDER)


def purpose(name: str) -> str:
    """What a profile is for, on one line."""
    return presets.purpose(FOLDER, name)
