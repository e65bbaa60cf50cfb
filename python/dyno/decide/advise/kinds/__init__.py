"""Kinds of advice, one per file. Each file defines ``KIND``."""

from __future__ import annotations

import importlib
import pkgutil

from dyno.decide.advise.section import Kind


def kinds() -> list[Kind]:
    """All kinds, in their order."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    found = [importlib.import_module(f"{__name__}.{name}").KIND for name in names]
    return sorted(found, key=lambda kind: kind.order)
