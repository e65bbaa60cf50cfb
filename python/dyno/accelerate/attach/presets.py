"""What a cache does by kind of work and by kind of file; each target has the kinds of its files."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil

from dyno import targets
from dyno.accelerate.attach.folder import Rule

_MIB = 1 << 20

SCAN_BYTES = {"dss": 1 << 62, "mixed": 64 * _MIB, "oltp": 8 * _MIB}
"""By kind of work: a sequential read of more bytes does not fill the cache."""


def rules() -> tuple[Rule, ...]:
    """The rules for the databases that Dyno knows; the first that matches a file counts."""
    found: list[Rule] = []
    for target in pkgutil.iter_modules(targets.__path__, f"{targets.__name__}."):
        name = f"{target.name}.kinds"
        if target.ispkg and importlib.util.find_spec(name) is not None:
            found += [
                Rule.model_validate({"glob": glob, "kind": kind, "action": action})
                for glob, kind, action in importlib.import_module(name).KINDS
            ]
    return tuple(found)
