"""Dyno: a dynamometer for database servers and the storage under them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dyno.runner.api import Run, load, open, run  # noqa: A004

__version__ = "0.1.0"
__all__ = ["Run", "__version__", "load", "open", "run"]


def __getattr__(name: str) -> Any:
    """What is for Python, imported when it is first used: the command line starts without it."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from dyno.runner import api

    return getattr(api, name)
