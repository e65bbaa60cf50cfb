"""A target is made ready: started, given procedures, restored, or its caches emptied."""

from __future__ import annotations

from dyno.bundle.detail import Detail, Int, Many, Number


class ProvisionDetail(Detail):
    """What was made ready.

    Attributes:
        procedures: Names of the workload's procedures.
        version: Theirs.
        made: Whether they were made; else they were there already.
        first: Number of the first update set that was restored.
        sets: How many were.
        rows: How many rows that changed.
        files: How many files of the data were put out of the page cache.
        bytes: Their size.
        before_bytes: What of them was in memory before.
        left_bytes: What still was afterwards.
        how: ``posix_fadvise`` or ``drop_caches``.
        file_system: Type of theirs.
        left_share: ``left_bytes`` as a share of ``bytes``.
        after_start_bytes: What of the files was in memory when the engine had started again.
        times: How often they were emptied, where that was done before each query; the figures
            above are then of the time that left most.
        seconds: How long all of that took.
    """

    procedures: Many[str] | None = None
    version: str | None = None
    made: bool | None = None
    first: Int | None = None
    sets: Int | None = None
    rows: Int | None = None
    files: Int | None = None
    bytes: Number | None = None
    before_bytes: Number | None = None
    left_bytes: Number | None = None
    how: str | None = None
    file_system: str | None = None
    left_share: Number | None = None
    after_start_bytes: Number | None = None
    times: Int | None = None
    seconds: Number | None = None


DETAIL = ProvisionDetail
