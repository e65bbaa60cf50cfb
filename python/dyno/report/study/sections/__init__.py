"""Sections of a study's page, one a file, found by name. A file has ``ORDER`` and ``section``."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable

from dyno.report.kit.blocks import Section
from dyno.report.study.page import StudyPage

Maker = Callable[[StudyPage], Section | None]
"""Makes a section of a page, or None where the study has nothing for it."""


def makers() -> list[Maker]:
    """All sections in the order of the page."""
    names = [module.name for module in pkgutil.iter_modules(__path__)]
    modules = [importlib.import_module(f"{__name__}.{name}") for name in names]
    return [module.section for module in sorted(modules, key=lambda module: module.ORDER)]
