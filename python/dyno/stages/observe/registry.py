"""Finds the probes: files in this folder that provide ``open_probe(root)``.

``root`` is the folder with ``proc`` and ``sys``: ``/`` on a live machine.
"""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path
from types import ModuleType

from dyno.host.files import ROOT
from dyno.stages.observe.base import Probe

_PACKAGE = __name__.rpartition(".")[0]


def names() -> list[str]:
    """Names of all probes, sorted."""
    modules = (module.name for module in pkgutil.iter_modules([str(Path(__file__).parent)]))
    return sorted(name for name in modules if hasattr(_module(name), "open_probe"))


def open_probes(root: Path = ROOT) -> list[Probe]:
    """Opens all probes. A missing source shows at the first reading, not here."""
    return [_module(name).open_probe(root) for name in names()]


def _module(name: str) -> ModuleType:
    return importlib.import_module(f"{_PACKAGE}.{name}")
