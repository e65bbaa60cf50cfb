"""Rules on what limits a phase, one a resource and file, found by name. A file offers ``RULE``."""

from __future__ import annotations

import importlib
import pkgutil

from dyno.decide.view import LimitRule


def rules() -> list[LimitRule]:
    """All rules, by the names of their files."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return [importlib.import_module(f"{__name__}.{name}").RULE for name in names]
