"""Maintenance during a run."""

from __future__ import annotations

from dyno.bundle.detail import Detail, Int, Number


class MaintenanceDetail(Detail):
    """A maintenance operation.

    Attributes:
        level: Concurrent load level; None if queries ran.
        warmup_s: Warm-up time of that level.
        scale: Scale of the data of the queries.
        streams: Number of users of the queries, in all databases.
        streams_each: Users of each database, if there are several.
        maintenance: the task (``dyno.contracts.maintenance``).
        method: How the target implements it.
        start_ns: Start, ns since the Unix epoch.
        end_ns: End, ns since the Unix epoch.
        rounds: Number of complete repeats.
        error: Why it did not complete; None if it did.
        stretch_s: Minimum time before, during and after it.
        space_peak_bytes: Peak disk space, as far as the server reports it.
        space_estimate_bytes: Estimated disk space.
        space_estimate_source: Source of the estimate.
        estimate_s: Time of the server's estimate, or else to prepare the task with it.
        estimate_only: Whether the task was estimated and did not run.
        steps_s: Median seconds by step, of tasks that time their steps.
        steps_bytes: Bytes by step, of tasks whose steps write a known size.
        log_bytes: Bytes that the server wrote to its log meanwhile, for all sessions.
        written_bytes: Size on storage of all completed backups.
        written_s: Time to write and sync them.
    """

    level: str | None = None
    warmup_s: Number | None = None
    scale: Number | None = None
    streams: Int | None = None
    streams_each: Int | None = None
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
    estimate_s: Number | None = None
    estimate_only: bool | None = None
    log_bytes: Number | None = None
    steps_s: dict[str, Number] | None = None
    steps_bytes: dict[str, Number] | None = None
    written_bytes: Number | None = None
    written_s: Number | None = None


DETAIL = MaintenanceDetail
