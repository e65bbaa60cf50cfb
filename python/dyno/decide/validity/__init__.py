"""Validity rules, one per file. Each file defines ``RULE``."""

from __future__ import annotations

import importlib
import pkgutil

from dyno.decide.rule import Rule


def rules() -> list[Rule]:
    """All rules, by weight, then by file name."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    found: list[Rule] = [importlib.import_module(f"{__name__}.{name}").RULE for name in names]
    return sorted(found, key=lambda rule: rule.weight)
