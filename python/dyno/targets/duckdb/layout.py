"""What of a layout DuckDB can have."""

from __future__ import annotations

from dyno.contracts.target import TargetUrl
from dyno.layouts.parts import LayoutParts


def parts(url: TargetUrl) -> LayoutParts:  # noqa: ARG001  (the same for every file)
    """What this target can do of a layout."""
    return LayoutParts(
        partitions="DuckDB's own tables have no partitions; it skips row groups by their least and "
        "greatest values, which `clustered` makes use of",
        no_keys=True,
        primary_keys=True,
        foreign_keys="DuckDB cannot add a foreign key to a table that has rows, and checking each "
        "row as it comes would spoil the load",
        secondary=True,
        cluster=True,
        row="DuckDB stores columns; it has no row form",
        column=True,
        data="a DuckDB database is one file, and the target's URL says where: "
        "duckdb:///VOLUME/file.duckdb",
        log="DuckDB keeps its log beside the file, which the target's URL places",
        temp=True,
        preallocate="DuckDB extends its file as rows come",
    )
