"""The layout features that DuckDB supports."""

from __future__ import annotations

from dyno.contracts.target import TargetUrl
from dyno.layouts.parts import LayoutParts


def parts(url: TargetUrl) -> LayoutParts:  # noqa: ARG001  (the same for every file)
    """The layout features of this target."""
    return LayoutParts(
        partitions="DuckDB has no table partitions; it skips row groups by their min and max "
        "values, which `clustered` uses",
        no_keys=True,
        primary_keys=True,
        foreign_keys="DuckDB cannot add a foreign key to a loaded table, and checking every row "
        "during the load would distort it",
        secondary=True,
        cluster=True,
        row="DuckDB is a column store; it has no row format",
        column=True,
        data="a DuckDB database is one file, set in the target URL: duckdb:///VOLUME/file.duckdb",
        log="DuckDB's log is next to its file, which is set in the target URL",
        temp=True,
        preallocate="DuckDB grows its file on demand",
    )
