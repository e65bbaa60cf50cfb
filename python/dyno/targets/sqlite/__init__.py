"""SQLite, a row store in a file.

``sqlite:///absolute/file``, ``sqlite:relative/file``, or a private one as ``embedded:sqlite``.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from dyno.contracts.target import LimitedPlace, Limits, Target, TargetUrl

SCHEMES = ("sqlite",)
EXAMPLE = "sqlite:///absolute/file.sqlite"
EMBEDDED = True
LIMITED: Mapping[str, LimitedPlace] = {"embedded": "process", "sqlite": "process"}
STORE = "row store"
# Measured with TPC-H at scale 1, with all keys and indexes: 1.47 GB.
EXPANSION = 1.5


def leads_to(url: TargetUrl) -> tuple[str, ...]:
    """The file of ``url``, with links resolved."""
    from dyno.targets.fileurl import file_of

    return (str(file_of(url, "SQLite").resolve()),)


def open_target(url: TargetUrl, out: Path, limits: Limits) -> Target:
    """The database file of ``url``, or files in ``out/engines/sqlite``."""
    from dyno.targets.sqlite.target import SqliteTarget

    return SqliteTarget(url, out, limits)
