"""Queries: the power test, the throughput test, or streams during maintenance."""

from __future__ import annotations

from dyno.bundle.detail import Detail, Int, Number, Pair

HELD = "held"


class DssDetail(Detail):
    """A query test.

    Attributes:
        test: ``power``, ``throughput``, ``during`` or ``held`` (streams that repeat their queries
            beside other work); None in bundles of earlier versions.
        scale: Scale of the data.
        parameters: ``validation`` or ``seeded``.
        seed: Stream s uses the seed ``seed + s`` for its parameters.
        refresh: Whether the refresh functions also ran.
        first_set: Update set of the first refresh pair.
        cache: Cache state: ``warm``, ``first``, ``cold``, ``cold-each-query`` or ``after-power``.
        timeout_s: Query timeout. Queries that exceed it are cancelled.
        metering: Queries for which the engine counted bytes and memory.
        stream: Stream that defines the query order of the power test.
        warm: Whether each query ran once before the power test.
        streams: Number of concurrent users, in all databases.
        streams_each: Users of each database, if there are several.
        queries_each: Queries of each stream; None for the 22 of TPC-H.
        databases: Number of databases under load at once; None for one.
        variants: Changes of the target to queries, by query.
        label: Tells several held tests of a run apart.
        window: Start and end of the measured time of a held test, ns since the Unix epoch.
        stretch_s: Minimum time before, during and after maintenance.
        maintenance: The maintenance operation.
        errors: Why a query or refresh function failed, by its name.
        errors_warming: The same for the warm-up pass of the power test.
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
    streams_each: Int | None = None
    queries_each: Int | None = None
    databases: Int | None = None
    variants: dict[str, str] | None = None
    label: str | None = None
    window: Pair[Int] | None = None
    stretch_s: Number | None = None
    maintenance: str | None = None
    errors: dict[str, str] | None = None
    errors_warming: dict[str, str] | None = None


DETAIL = DssDetail
