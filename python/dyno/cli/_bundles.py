"""Finds runs by name: bundles under --out, folders, and archives of `dyno runs export`."""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dyno.bundle.reader import Bundle

NAMES = (
    "RUN is a run id, a unique prefix of one, `last`, or the path of a bundle or of its .tar.gz."
)


@contextlib.contextmanager
def named(out: Path, name: str) -> Generator[Bundle]:
    """The bundle called ``name``; an archive is unpacked to a temporary folder for the block.

    Raises:
        UsageError: If there is none, or the archive is invalid.
        DiskFullError, TargetError: If it cannot be unpacked.
    """
    if Path(name).is_file():
        from dyno.bundle import archive

        with archive.opened(Path(name)) as found:
            yield found
    else:
        from dyno.bundle.reader import find_bundle

        yield find_bundle(out, name)
