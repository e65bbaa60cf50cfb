"""Loads rows into a target."""

from __future__ import annotations

from typing import Any

from dyno.bundle.detail import Detail, Int, Many, Number, Part


class Step(Part):
    """A step of a load, or of the keys and indexes after it.

    Attributes:
        step: The action, with the table or index.
        kind: ``create``, ``load``, ``cluster``, ``primary key``, ``index``, ``foreign key``,
            ``merge``, ``analyse`` or ``checkpoint``.
        seconds: Duration.
        table: The table or partition.
        moved_bytes: Bytes of rows moved.
        extra_peak_bytes: Peak space above the level before the step.
        extra_rest_bytes: Space above that level at the end of the step.
        table_bytes: Size of the table.
        memory_peak_bytes: Peak memory that the server gave the step, if it reports it.
        gb_per_h: ``moved_bytes`` by time, 10^9 bytes per hour.
        ratio: ``extra_peak_bytes`` / ``table_bytes``.
    """

    step: str | None = None
    kind: str | None = None
    seconds: Number | None = None
    table: str | None = None
    moved_bytes: Number | None = None
    extra_peak_bytes: Number | None = None
    extra_rest_bytes: Number | None = None
    table_bytes: Number | None = None
    memory_peak_bytes: Number | None = None
    gb_per_h: Number | None = None
    ratio: Number | None = None


class LoadedTable(Part):
    """A loaded table.

    Attributes:
        table: Its name.
        rows: Number of rows that the database accepted.
        bytes: Bytes sent.
        seconds: From the start of its first part to the end of its last; tables overlap.
    """

    table: str | None = None
    rows: Number | None = None
    bytes: Number | None = None
    seconds: Number | None = None


class LoadDetail(Detail):
    """A load.

    Attributes:
        scale: Scale factor, number of warehouses, or thousands of customers.
        streams: Number of concurrent load sessions.
        seed: Seed of the rows.
        days: Initial days of the data; None for a workload without.
        layout: The physical design (``dyno.contracts.layout``), without default values.
        resumed_parts: Number of parts from an earlier load, if this one resumed it.
        resumed_rows: Number of rows in these parts.
        rows: Rows sent.
        bytes: Bytes sent, in the format of the target.
        text_bytes: Size of the rows as ``.tbl`` files, which is the same for every target.
        seconds: Time from the first to the last byte.
        tables: The loaded tables.
        space: The steps, with time and space.
    """

    scale: Number | None = None
    streams: Int | None = None
    seed: Int | None = None
    days: Int | None = None
    layout: dict[str, Any] | None = None
    resumed_parts: Int | None = None
    resumed_rows: Int | None = None
    rows: Number | None = None
    bytes: Number | None = None
    text_bytes: Number | None = None
    seconds: Number | None = None
    tables: Many[LoadedTable] = ()
    space: Many[Step] = ()


DETAIL = LoadDetail
