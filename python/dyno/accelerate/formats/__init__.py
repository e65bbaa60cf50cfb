"""Formats of traces: one file each, which has

* ``ENDINGS``: ends of the names of such files,
* ``read(path, block_bytes)``: the trace.
"""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path
from typing import Protocol, cast

from dyno.accelerate.trace import Trace
from dyno.errors import UsageError, nearest


class Format(Protocol):
    """A module of this package."""

    ENDINGS: tuple[str, ...]

    def read(self, path: Path, block_bytes: int) -> Trace:
        """The trace in a file.

        Raises:
            UsageError: If the file has another format.
            OSError: If it cannot be read.
        """
        ...


def known() -> dict[str, Format]:
    """All formats by name."""
    names = [one.name for one in pkgutil.iter_modules(__path__) if not one.name.startswith("_")]
    found = {name: importlib.import_module(f"{__name__}.{name}") for name in sorted(names)}
    return {name.replace("_", "-"): cast("Format", module) for name, module in found.items()}


def read(path: Path, block_bytes: int, name: str | None) -> Trace:
    """The trace in a file.

    Args:
        path: The file; compressed if its name ends in .gz or .zst.
        block_bytes: Bytes of a block; only formats of bytes use it.
        name: The format; by the file's name if None.

    Raises:
        UsageError: If the format is unknown, or the file has another one or no access.
        OSError: If it cannot be read.
    """
    formats = known()
    if name is None:
        plain = path.name.lower().removesuffix(".gz").removesuffix(".zst")
        fits = [one for one, module in formats.items() if plain.endswith(module.ENDINGS)]
        if len(fits) != 1:
            raise UsageError(
                f"The format of {path.name} is not known by its name. Give --format "
                f"{', '.join(formats)}."
            )
        name = fits[0]
    if name not in formats:
        raise UsageError(f"Unknown format '{name}'. {nearest(name, formats)}")
    trace = formats[name].read(path, block_bytes)
    if not trace.blocks.size:
        raise UsageError(f"{path} has no access in the format {name}.")
    return trace
