"""Sections of the report, one per file. Each file defines ``ORDER`` and ``section``."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable

from dyno.report.kit.blocks import Section
from dyno.report.run.page import Page

Maker = Callable[[Page], Section | None]
"""Returns a section, or None if the bundle has no data for it."""


def makers() -> list[Maker]:
    """All sections, in page order."""
    names = [module.name for module in pkgutil.iter_modules(__path__)]
    modules = [importlib.import_module(f"{__name__}.{name}") for name in names]
    return [module.section for module in sorted(modules, key=lambda module: module.ORDER)]
