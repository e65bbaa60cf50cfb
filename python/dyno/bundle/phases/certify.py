"""An interval of a certificate: concurrent users repeat queries of a class for a fixed time."""

from __future__ import annotations

from dyno.bundle.detail import Detail, Int, Many, Number, Pair

RATE, COMBINED = "rate", "combined"


class CertifyDetail(Detail):
    """An interval.

    Attributes:
        test: ``RATE`` (one user, warm cache), a query class, or ``COMBINED`` (all classes).
        form: ``row`` or ``column``: how the target stores the tables.
        own: The form that the target stores by default, whose reads it counts.
        part: The same as ``form``, in a run that measures both forms of this target; None in
            others. Names of its phases and metrics have it.
        scale: Scale of the data.
        seed: The run's seed; each user derives its own.
        users: Concurrent users, each with a session.
        queries: Names of the queries.
        warmup_s: Time under load before the window.
        duration_s: Length of the window.
        window: Its start and end, ns since the Unix epoch.
        parallelism: The requested CPUs per query; None for the engine's own choice.
        parallelism_note: Why a requested parallelism was not set.
        raw_bytes: Size of the rows as ``.tbl`` files, which is the same for every target.
        data_bytes: Size of the tables and indexes in the target.
        errors: Why queries failed, by name.
    """

    test: str | None = None
    form: str | None = None
    own: str | None = None
    part: str | None = None
    scale: Number | None = None
    seed: Int | None = None
    users: Int | None = None
    queries: Many[str] = ()
    warmup_s: Number | None = None
    duration_s: Number | None = None
    window: Pair[Int] | None = None
    parallelism: Int | None = None
    parallelism_note: str | None = None
    raw_bytes: Number | None = None
    data_bytes: Number | None = None
    errors: dict[str, str] | None = None


DETAIL = CertifyDetail
