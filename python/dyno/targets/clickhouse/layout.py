"""The layout features that ClickHouse supports."""

from __future__ import annotations

from dyno.contracts.target import TargetUrl
from dyno.layouts.parts import LayoutParts

_PLACE = "a ClickHouse database is one directory, set in the target URL: "


def parts(url: TargetUrl) -> LayoutParts:  # noqa: ARG001  (the same for every directory)
    """The layout features of this target."""
    return LayoutParts(
        partitions=True,
        no_keys=True,
        primary_keys=True,
        foreign_keys="ClickHouse has no foreign keys",
        secondary="ClickHouse has no row indexes; its data-skipping indexes only skip blocks, as "
        "`clustered` and partitions do",
        cluster=True,
        row=True,
        column=True,
        data=f"{_PLACE}clickhouse:///VOLUME/directory",
        log="ClickHouse has no write-ahead log",
        temp="chdb spills to `tmp` in its directory, which is set in the target URL",
        preallocate="ClickHouse writes new files for each part of a table",
    )
