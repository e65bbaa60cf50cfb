"""Layouts: physical design as data. Presets are the TOML files here; anybody can write another.

A file is read (``spec``), fitted to a workload's tables (``resolve``) and becomes a ``Layout``,
which is what targets work from.
"""

from __future__ import annotations

from pathlib import Path

from dyno.config import presets

FOLDER = Path(__file__).parent
DEFAULT = "default"


def names() -> list[str]:
    """Names of the presets, sorted."""
    return presets.names(FOLDER)


def purpose(name: str) -> str:
    """What a preset is for: the comment that its file opens with, on one line."""
    return presets.purpose(FOLDER, name)
