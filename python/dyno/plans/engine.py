"""Settings and resource limits of an engine."""

from __future__ import annotations

from pathlib import Path

from dyno.plans.fields import Plan, Words


class Bounds(Plan):
    """Resource limits of the engine.

    Attributes:
        limits: ``name=value`` each, such as ``cpu=0.9``.
    """

    limits: Words = ()


class Engine(Bounds):
    """Settings and limits of the engine.

    Attributes:
        settings: ``name=value`` with a portable name each, such as ``memory=4GB``.
        settings_file: TOML with a ``[settings]`` table; ``settings`` override it.
    """

    settings: Words = ()
    settings_file: Path | None = None
