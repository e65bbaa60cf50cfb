"""Best practices, one rule per file. Each file defines ``RULE``."""

from __future__ import annotations

import importlib
import pkgutil

from dyno.decide.advise.rule import Rule


def rules() -> list[Rule]:
    """All rules, by file name."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return [importlib.import_module(f"{__name__}.{name}").RULE for name in names]
