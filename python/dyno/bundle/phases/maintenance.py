"""Maintenance beside the work."""

from __future__ import annotations

from dyno.bundle.detail import Detail, Int, Number


class MaintenanceDetail(Detail):
    """A piece of maintenance.

    Attributes:
        level: Level of load beside it; None if queries ran.
        warmup_s: Of that level.
        scale: Of the data that queries ran on.
        streams: Users who ran them.
        maintenance: ``integrity-check``, ``reindex``, ``backup`` or ``vacuum``.
        method: How the target does it.
        start_ns: When it began, ns since the Unix epoch.
        end_ns: When it ended.
        rounds: How often it was done in full.
        error: Why it did not end; None if it did.
        stretch_s: Least time before it, of it and after it.
        space_peak_bytes: Most room that it took, as far as the server tells.
        space_estimate_bytes: What it was expected to take.
        space_estimate_source: By what.
        written_bytes: Bytes on storage of all backups that ended.
        written_s: How long they were written and synced.
    """

    level: str | None = None
    warmup_s: Number | None = None
    scale: Number | None = None
    streams: Int | None = None
    maintenance: str | None = None
    method: str | None = None
    start_ns: Int | None = None
    end_ns: Int | None = None
    rounds: Number | None = None
    error: str | None = None
    stretch_s: Number | None = None
    space_peak_bytes: Number | None = None
    space_estimate_bytes: Number | None = None
    space_estimate_source: str | None = None
    written_bytes: Number | None = None
    written_s: Number | None = None


DETAIL = MaintenanceDetail
