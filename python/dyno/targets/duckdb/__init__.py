"""DuckDB, a column store in a file.

``duckdb:///absolute/file``, ``duckdb:relative/file``, or a private one as ``embedded:duckdb``.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from dyno.contracts.target import LimitedPlace, Limits, Target, TargetUrl

SCHEMES = ("duckdb",)
EXAMPLE = "duckdb:///absolute/file.duckdb"
EMBEDDED = True
LIMITED: Mapping[str, LimitedPlace] = {"embedded": "process", "duckdb": "process"}
STORE = "column store"
# Measured with TPC-H at scale 1: 0.28 GB, compressed. The rest is space for spilled data.
EXPANSION = 0.6


def leads_to(url: TargetUrl) -> tuple[str, ...]:
    """The file of ``url``, with links resolved."""
    from dyno.targets.fileurl import file_of

    return (str(file_of(url, "DuckDB").resolve()),)


def open_target(url: TargetUrl, out: Path, limits: Limits) -> Target:
    """The database file of ``url``, or ``out/engines/duckdb/dyno.duckdb``."""
    from dyno.targets.duckdb.target import DuckdbTarget

    return DuckdbTarget(url, out, limits)
