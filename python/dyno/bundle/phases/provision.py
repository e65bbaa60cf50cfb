"""Prepares a target: starts it, creates procedures, restores data or empties its caches."""

from __future__ import annotations

from dyno.bundle.detail import Detail, Int, Many, Number


class ProvisionDetail(Detail):
    """The preparation.

    Attributes:
        procedures: Names of the stored procedures of the workload.
        version: Version of the procedures.
        made: Whether they were created; otherwise they existed.
        first: Number of the first restored update set.
        sets: Number of restored update sets.
        rows: Number of restored rows.
        files: Number of data files evicted from the page cache.
        bytes: Size of these files.
        before_bytes: Bytes of these files in memory before.
        left_bytes: Bytes of these files in memory afterwards.
        how: ``posix_fadvise`` or ``drop_caches``.
        file_system: Their file system type.
        left_share: ``left_bytes`` as a share of ``bytes``.
        after_start_bytes: Bytes of these files in memory after the engine restarted.
        times: Number of evictions, if done before each query; the values above are then those of
            the eviction that left most.
        seconds: Total duration.
        statements: Seconds by statement of a setup.
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
    statements: dict[str, Number] | None = None


DETAIL = ProvisionDetail
