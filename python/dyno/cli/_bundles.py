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
def recorded(out: Path, name: str) -> Generator[Path]:
    """The record of the reads of the run called ``name``.

    Raises:
        UsageError: If the run does not exist, or did not record its reads.
    """
    from dyno.accelerate.attach.recording import IN_BUNDLE
    from dyno.errors import UsageError

    with named(out, name) as bundle:
        path = bundle.path / IN_BUNDLE
        if not path.is_file():
            raise UsageError(
                f"{bundle.path.name} has no record of reads. Run it with --accelerate kept "
                "--record-reads."
            )
        yield path


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
