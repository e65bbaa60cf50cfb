"""Queries: the power test, the throughput test, or streams beside maintenance."""

from __future__ import annotations

from dyno.bundle.detail import Detail, Int, Number


class DssDetail(Detail):
    """A test of queries.

    Attributes:
        test: ``power``, ``throughput`` or ``during``; None in bundles of earlier versions.
        scale: Of the data.
        parameters: ``validation`` or ``seeded``.
        seed: Stream s draws its parameters from ``seed + s``.
        refresh: Whether the refresh functions ran, too.
        first_set: The update set of the first pair of them.
        cache: What the caches held: ``warm``, ``first``, ``cold``, ``cold-each-query`` or
            ``after-power``.
        timeout_s: A query that took longer was cancelled.
        metering: Which queries the engine counted bytes and memory for.
        stream: Whose order of queries the power test used.
        warm: Whether each query ran once before the power test.
        streams: How many users there were at once.
        variants: What the target changed in queries, by query.
        stretch_s: Least time before, during and after maintenance.
        maintenance: What that was.
        errors: Why a query or refresh function failed, by its name.
        errors_warming: The same of the pass before the power test.
    """

    test: str | None = None
    scale: Number | None = None
    parameters: str | None = None
    seed: Int | None = None
    refresh: bool | None = None
    first_set: Int | None = None
    cache: str | None = None
    timeout_s: Number | None = None
    metering: str | None = None
    stream: Int | None = None
    warm: bool | None = None
    streams: Int | None = None
    variants: dict[str, str] | None = None
    stretch_s: Number | None = None
    maintenance: str | None = None
    errors: dict[str, str] | None = None
    errors_warming: dict[str, str] | None = None


DETAIL = DssDetail
