"""Kinds of phases, one per file, found by name. A file defines ``DETAIL``, the phase detail."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Literal, cast, get_args

from dyno.bundle.detail import Detail

PhaseKind = Literal[
    "machine",
    "io",
    "provision",
    "load",
    "index",
    "dss",
    "oltp",
    "accelerate",
    "check",
    "plans",
    "maintenance",
    "search",
    "superseded",
    "watch",
    "confirm",
    "certify",
    "mix",
]
"""The file names, for type checkers: a misspelled kind is an error."""


def _found() -> dict[PhaseKind, type[Detail]]:
    names = {module.name for module in pkgutil.iter_modules(__path__)}
    if names != set(get_args(PhaseKind)):
        raise ImportError(f"PhaseKind does not name the files of {__name__}: {sorted(names)}")
    return {
        cast("PhaseKind", name): importlib.import_module(f"{__name__}.{name}").DETAIL
        for name in sorted(names)
    }


DETAILS = _found()
"""Models by kind."""


def kind_of(detail: type[Detail]) -> PhaseKind:
    """Returns the kind of phases with this detail."""
    return next(kind for kind, model in DETAILS.items() if model is detail)
