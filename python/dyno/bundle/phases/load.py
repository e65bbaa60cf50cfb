"""Rows go into a target."""

from __future__ import annotations

from typing import Any

from dyno.bundle.detail import Detail, Int, Many, Number, Part


class Step(Part):
    """A step of a load, or of the keys and indexes after it.

    Attributes:
        step: What was done, with the table or index.
        kind: ``create``, ``load``, ``cluster``, ``primary key``, ``index``, ``foreign key``,
            ``merge``, ``analyse`` or ``checkpoint``.
        seconds: How long it took.
        table: The table or partition it worked on.
        moved_bytes: Bytes of rows that it moved.
        extra_peak_bytes: Room taken above what was occupied before, at the peak.
        extra_rest_bytes: The same when it was done.
        table_bytes: Size of the table.
        gb_per_h: ``moved_bytes`` by time, 10^9 bytes an hour.
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
    gb_per_h: Number | None = None
    ratio: Number | None = None


class LoadedTable(Part):
    """A table that was filled.

    Attributes:
        table: Its name.
        rows: How many the database says it took.
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
        scale: Scale factor or warehouses.
        streams: Sessions that loaded at once.
        seed: Of the rows.
        layout: The physical design (``dyno.contracts.layout``), without what is usual in it.
        resumed_parts: How many parts an earlier load had brought in, where this one went on.
        resumed_rows: Their rows.
        rows: Rows sent.
        bytes: Bytes sent, whatever form the target was sent them in.
        text_bytes: Size of the rows as ``.tbl`` files, the same for every target.
        seconds: First to last byte.
        tables: What went where.
        space: The steps, with time and room.
    """

    scale: Number | None = None
    streams: Int | None = None
    seed: Int | None = None
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
