"""What of a layout ClickHouse can have."""

from __future__ import annotations

from dyno.contracts.target import TargetUrl
from dyno.layouts.parts import LayoutParts

_PLACE = "a ClickHouse database is one directory, and the target's URL says where: "


def parts(url: TargetUrl) -> LayoutParts:  # noqa: ARG001  (the same for every directory)
    """What this target can do of a layout."""
    return LayoutParts(
        partitions=True,
        no_keys=True,
        primary_keys=True,
        foreign_keys="ClickHouse has no foreign keys",
        secondary="ClickHouse has no indexes that find rows by other columns: those that it calls "
        "so only leave out blocks of rows, which `clustered` and partitions do as well",
        cluster=True,
        row="ClickHouse stores columns; it has no row form",
        column=True,
        data=f"{_PLACE}clickhouse:///VOLUME/directory",
        log="ClickHouse keeps no write-ahead log",
        temp="chdb spills into `tmp` in the directory, which the target's URL places",
        preallocate="ClickHouse writes new files for each part of a table",
    )
