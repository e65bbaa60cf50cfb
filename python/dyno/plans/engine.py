"""What the engine of a run is set to, and what it may have of the machine."""

from __future__ import annotations

from pathlib import Path

from dyno.plans.fields import Plan, Words


class Bounds(Plan):
    """Limits of the engine.

    Attributes:
        limits: ``word=value`` each, as ``cpu=0.9``.
    """

    limits: Words = ()


class Engine(Bounds):
    """Settings and limits of the engine.

    Attributes:
        settings: ``word=value`` in neutral words each, as ``memory=4GB``.
        settings_file: TOML with a table of such words; ``settings`` win.
    """

    settings: Words = ()
    settings_file: Path | None = None
